// Input: what stands in the body of a queue. Whatever the bytes: attaching, reading and writing
// end, stay inside, and give messages within the limit.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "sennit/base/assert.hpp"
#include "sennit/shm/queue.hpp"

namespace sennit::shm {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  QueueOptions options;
  options.capacity_bytes = 512;
  options.message_bytes_max = 200;
  auto queue = Queue::create(Place::heap(), options);
  SENNIT_ASSERT(queue.has_value());
  const auto body = queue->segment().body();
  std::memcpy(body.data(), data, std::min(size, body.size()));
  auto producer = queue->producer();
  auto consumer = queue->consumer();
  if (!producer || !consumer) return 0;
  const std::byte message[200] = {};
  for (std::size_t i = 0; i < 64; ++i) {
    const auto room = i * 3 % 201;
    if (producer->push(std::span(message, room)) == Push::damaged) break;
    const auto got = consumer->peek();
    if (!got) continue;
    SENNIT_ASSERT(got->size() <= 200 && got->data() >= body.data(), got->size());
    SENNIT_ASSERT(got->data() + got->size() <= body.data() + body.size());
    consumer->release();
  }
  return 0;
}

}  // namespace sennit::shm
