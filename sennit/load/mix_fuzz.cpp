// Mixes from anyone: read or refused, and what was read can be rendered.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/load/detail/planned_request.hpp"
#include "sennit/load/mix.hpp"

namespace sennit::load {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto mix = parse_mix(text);
  if (!mix) {
    SENNIT_ASSERT(!mix.error().doing().empty());
    return 0;
  }
  Random random(1);
  for (const MixEntry& entry : *mix) {
    detail::PlannedRequest::Text request;
    request.method = entry.method;
    request.target = entry.path;
    request.host = "h";
    request.body = entry.body;
    request.has_variables = true;
    for (const auto& [name, value] : entry.headers) {
      if (!request.headers.set(name, value)) return 0;
    }
    const auto planned = detail::PlannedRequest::make(request);
    if (!planned) continue;  // What cannot be in a request is refused when the plan is made.
    Buffer out, scratch;
    planned->append_to(out, scratch, false, 7, random);
    SENNIT_ASSERT(out.view().find("\r\n\r\n") != std::string_view::npos);
  }
  return 0;
}

}  // namespace sennit::load
