// Any Accept-Encoding: an answer, and never a coding that is refused by name alone.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/accept_encoding.hpp"

namespace sennit::http {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string field(reinterpret_cast<const char*>(data), size);
  (void)choose_coding(field);
  // Refused last, and so by every reading of what stands before.
  const auto chosen = choose_coding(field + ",gzip;q=0,zstd;q=0");
  SENNIT_ASSERT(!chosen || *chosen == Coding::identity);
  return 0;
}

}  // namespace sennit::http
