// Any Range field: what is satisfiable lies within the length, overlaps nowhere and is bounded.

#include <cstdint>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/ranges.hpp"

namespace sennit::http {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view field(reinterpret_cast<const char*>(data), size);
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{10}, UINT64_MAX / 2}) {
    const Ranges found = parse_ranges(field, length);
    SENNIT_ASSERT(found.ranges.size() <= ranges_max);
    if (found.kind != Ranges::Kind::satisfiable) continue;
    std::uint64_t total = 0;
    for (const ByteRange& range : found.ranges) {
      SENNIT_ASSERT(range.bytes > 0 && range.offset < length);
      SENNIT_ASSERT(range.bytes <= length - range.offset);
      total += range.bytes;
    }
    SENNIT_ASSERT(total <= length);
  }
  return 0;
}

}  // namespace sennit::http
