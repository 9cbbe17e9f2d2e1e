// Any JSON: what is accepted can be written, and reads as the same value again.

#include <cstdint>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/json.hpp"

namespace sennit::http {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = parse_json({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  const auto again = parse_json(value->dump());
  SENNIT_ASSERT(again.has_value() && *again == *value);
  return 0;
}

}  // namespace sennit::http
