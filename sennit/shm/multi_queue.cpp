#include "sennit/shm/multi_queue.hpp"

#include <algorithm>
#include <bit>

#include "sennit/shm/detail/process.hpp"

namespace sennit::shm::detail {
namespace {

constexpr std::uint64_t slot_count_max = std::uint64_t{1} << 32;
constexpr std::uint64_t message_bytes_limit = std::uint64_t{1} << 30;

std::uint64_t slot_bytes_for(std::uint64_t message_bytes_max) {
  return sizeof(MultiQueueSlot) + round_up_to_word(message_bytes_max);
}

/// Rule 5: before the number of a dead producer is used again.
std::uint64_t pass_over_claims(const MultiQueueShape& shape, std::uint64_t producer) {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < shape.slot_count; ++i) {
    auto& slot = shape.slot(i);
    std::uint64_t word = slot.word.load();
    const bool is_its =
        SlotWord::what_of(word) == SlotWord::claimed && SlotWord::producer_of(word) == producer + 1;
    if (is_its && HookedStore::compare_exchange(
                      slot.word, word, SlotWord::make(SlotWord::lap(word), SlotWord::skipped, 0),
                      std::memory_order_seq_cst)) {
      ++count;
    }
  }
  return count;
}

}  // namespace

Layout multi_queue_layout(const MultiQueueOptions& options) {
  const std::uint64_t wanted = std::max(options.slot_count, std::uint64_t{2});
  const bool is_too_large =
      wanted > slot_count_max || options.message_bytes_max > message_bytes_limit;
  const std::uint64_t slots = is_too_large ? 0 : std::bit_ceil(wanted);
  // What no segment can hold is refused by Segment.
  const std::uint64_t ring =
      std::min(slots * slot_bytes_for(options.message_bytes_max), segment_bytes_max);
  Layout layout;
  layout.kind = Kind::multi_queue;
  layout.body_bytes = is_too_large ? segment_bytes_max : sizeof(MultiQueueShared) + ring;
  layout.geometry = {slots, options.message_bytes_max};
  layout.label = options.label;
  return layout;
}

Result<MultiQueueShape> multi_queue_shape(const Segment& segment) {
  Layout wanted;
  wanted.kind = Kind::multi_queue;
  if (auto fits = expect(segment.info(), wanted); !fits) return failure(fits.error());
  const std::uint64_t slots = segment.info().geometry[0];
  const std::uint64_t message = segment.info().geometry[1];
  const bool is_right =
      slots >= 2 && slots <= slot_count_max && std::has_single_bit(slots) &&
      message <= message_bytes_limit &&
      segment.body().size() == sizeof(MultiQueueShared) + slots * slot_bytes_for(message);
  if (!is_right) {
    return failure(Errc::malformed,
                   "use " + segment.place().to_string() + " as a multi_queue: its geometry");
  }
  if (!segment.is_writable()) {
    return failure(Errc::permission_denied,
                   "use " + segment.place().to_string() + ": it was opened read-only");
  }
  MultiQueueShape shape;
  shape.shared = reinterpret_cast<MultiQueueShared*>(segment.body().data());
  shape.slots = segment.body().data() + sizeof(MultiQueueShared);
  shape.slot_count = slots;
  shape.slot_bytes = slot_bytes_for(message);
  shape.slot_bits = static_cast<unsigned>(std::countr_zero(slots));
  shape.message_bytes_max = static_cast<std::uint32_t>(message);
  shape.damaged = &segment.damage_flag();
  return shape;
}

bool producer_is_dead(const MultiQueueShape& shape, std::uint64_t producer) {
  if (producer >= multi_queue_producers_max) return true;  // Nobody's: damage, to be passed over.
  const std::uint64_t process = shape.shared->producers[producer].load();
  return process == 0 || (is_of_own_namespace(process) && !may_be_alive(process));
}

Result<std::uint64_t> claim_producer(const MultiQueueShape& shape, Recovery& recovery) {
  const std::uint64_t self = own_process();
  for (std::uint64_t i = 0; i < multi_queue_producers_max; ++i) {
    auto& entry = shape.shared->producers[i];
    std::uint64_t owner = entry.load();
    if (owner != 0) {
      if (!producer_is_dead(shape, i)) continue;
      recovery.took_over = true;
      recovery.discarded += pass_over_claims(shape, i);
    }
    if (HookedStore::compare_exchange(entry, owner, self, std::memory_order_seq_cst)) return i;
  }
  return failure(Errc::limit_reached, "produce for a queue that has all its producers");
}

void give_back_producer(const MultiQueueShape& shape, std::uint64_t producer) noexcept {
  try {
    HookedStore::store(shape.shared->producers[producer], 0, std::memory_order_seq_cst);
  } catch (...) {
    // A hook that stops the process right here; a destructor cannot pass that on.
  }
}

}  // namespace sennit::shm::detail
