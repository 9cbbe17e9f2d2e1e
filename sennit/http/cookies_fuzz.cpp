// Any Cookie field: names are never empty, all lies within the field, and what SetCookie accepts
// stays on its line.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/cookies.hpp"

namespace sennit::http {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view field(reinterpret_cast<const char*>(data), size);
  for_each_cookie(field, [field](std::string_view name, std::string_view value) {
    SENNIT_ASSERT(!name.empty() && name.data() >= field.data() &&
                  value.data() + value.size() <= field.data() + field.size());
    const auto set = SetCookie(std::string(name), std::string(value)).to_string();
    SENNIT_ASSERT(!set || set->find_first_of("\r\n;") == std::string::npos);
    return true;
  });
  return 0;
}

}  // namespace sennit::http
