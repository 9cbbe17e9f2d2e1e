// Input: what stands in the body of a broadcast. Whatever the bytes: readers and a writer end, and
// what is read is within the limit.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sennit/base/assert.hpp"
#include "sennit/shm/broadcast.hpp"

namespace sennit::shm {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  BroadcastOptions options;
  options.slot_count = 4;
  options.message_bytes_max = 64;
  auto feed = Broadcast::create(Place::heap(), options);
  SENNIT_ASSERT(feed.has_value());
  const auto body = feed->segment().body();
  std::memcpy(body.data(), data, std::min(size, body.size()));
  std::byte buffer[64];
  auto reader = feed->reader_from_oldest();
  reader.seek_time(size);
  for (int i = 0; i < 8; ++i) SENNIT_ASSERT(reader.read(buffer).bytes <= 64);
  auto writer = feed->writer();
  if (!writer) return 0;
  for (std::size_t i = 0; i < 8; ++i) static_cast<void>(writer->push({buffer, i * 9}, i));
  auto oldest = feed->reader_from_oldest();
  for (int i = 0; i < 8; ++i) SENNIT_ASSERT(oldest.read(buffer).bytes <= 64);
  return 0;
}

}  // namespace sennit::shm
