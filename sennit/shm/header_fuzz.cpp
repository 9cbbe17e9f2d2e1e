// Input: a header page and the length of its segment. Whatever the bytes: an error, or facts that
// agree with each other.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sennit/base/assert.hpp"
#include "sennit/shm/header.hpp"
#include "sennit/shm/place.hpp"

namespace sennit::shm {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  HeaderPage page{};
  std::memcpy(static_cast<void*>(&page), data, std::min(size, sizeof(page)));
  const auto info = read_header(page, size);
  if (info) {
    SENNIT_ASSERT(info->bytes <= size && info->bytes >= header_bytes, info->bytes);
    SENNIT_ASSERT(info->bytes <= info->bytes_max && info->bytes_max <= segment_bytes_max);
    SENNIT_ASSERT(info->label.size() <= label_bytes_max);
  }
  const auto place = Place::parse({reinterpret_cast<const char*>(data), size});
  if (place) SENNIT_ASSERT(Place::parse(place->to_string()).has_value());
  return 0;
}

}  // namespace sennit::shm
