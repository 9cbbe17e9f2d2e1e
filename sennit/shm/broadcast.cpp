#include "sennit/shm/broadcast.hpp"

#include <algorithm>
#include <bit>
#include <poll.h>

namespace sennit::shm {
namespace detail {
namespace {

constexpr std::uint64_t slot_count_max = std::uint64_t{1} << 32;
constexpr std::uint64_t message_bytes_limit = std::uint64_t{1} << 30;

std::uint64_t slot_bytes_for(std::uint64_t message_bytes_max) {
  return sizeof(BroadcastSlot) + round_up_to_word(message_bytes_max);
}

}  // namespace

Layout broadcast_layout(const BroadcastOptions& options) {
  const std::uint64_t wanted = std::max(options.slot_count, std::uint64_t{2});
  const bool is_too_large =
      wanted > slot_count_max || options.message_bytes_max > message_bytes_limit;
  const std::uint64_t slots = is_too_large ? 0 : std::bit_ceil(wanted);
  Layout layout;
  layout.kind = Kind::broadcast;
  // What no segment can hold is refused by Segment.
  layout.body_bytes = is_too_large ? segment_bytes_max
                                   : sizeof(BroadcastShared) +
                                         std::min(slots * slot_bytes_for(options.message_bytes_max),
                                                  segment_bytes_max);
  layout.geometry = {slots, options.message_bytes_max};
  layout.label = options.label;
  return layout;
}

Result<BroadcastShape> broadcast_shape(const Segment& segment) {
  Layout wanted;
  wanted.kind = Kind::broadcast;
  if (auto fits = expect(segment.info(), wanted); !fits) return failure(fits.error());
  const auto [slots, message, r2, r3, r4, r5, r6, r7] = segment.info().geometry;
  const bool is_right =
      slots >= 2 && slots <= slot_count_max && std::has_single_bit(slots) &&
      message <= message_bytes_limit && (r2 | r3 | r4 | r5 | r6 | r7) == 0 &&
      segment.body().size() == sizeof(BroadcastShared) + slots * slot_bytes_for(message);
  if (!is_right) {
    return failure(Errc::malformed,
                   "use " + segment.place().to_string() + " as a broadcast: its geometry");
  }
  BroadcastShape shape;
  shape.shared = reinterpret_cast<BroadcastShared*>(segment.body().data());
  shape.slots = segment.body().data() + sizeof(BroadcastShared);
  shape.slot_count = slots;
  shape.slot_bytes = slot_bytes_for(message);
  shape.message_bytes_max = static_cast<std::uint32_t>(message);
  shape.is_writable = segment.is_writable();
  shape.damaged = &segment.damage_flag();
  return shape;
}

BroadcastRead broadcast_miss(const BroadcastShape& shape, std::uint64_t& sequence,
                             std::uint64_t mark) {
  using What = BroadcastRead::What;
  if (shape.damaged->load()) return {What::damaged};
  // Marks of one slot are of messages that are whole laps apart.
  const std::uint64_t number = mark == 0 ? sequence : (mark - 1) / 2;
  if (((number ^ sequence) & (shape.slot_count - 1)) != 0) return {What::damaged};
  // An earlier lap, or just being written: ahead of the writer or level with it.
  if (mark <= 2 * sequence + 1) return {What::none};
  // acquire: pairs with the writer's release of the head, which follows marks of earlier messages.
  const std::uint64_t oldest = shape.oldest(shape.shared->head.load(std::memory_order_acquire));
  if (oldest <= sequence) return {What::damaged};  // Overtaken by a message that never was.
  BroadcastRead read{What::lost, 0, sequence, 0, oldest - sequence};
  sequence = oldest;
  return read;
}

bool broadcast_time(const BroadcastShape& shape, std::uint64_t sequence, std::uint64_t& time) {
  const BroadcastSlot& slot = shape.slot(sequence);
  const std::uint64_t done = 2 * sequence + 2;
  // acquire: pairs with the writer's release of the mark, as in BroadcastReader::read().
  if (slot.mark.load(std::memory_order_acquire) != done) return false;
  std::uint64_t facts[2];
  load_raced(facts, slot.facts, sizeof(facts));
  // acquire: pairs with the writer's fence, as in BroadcastReader::read().
  std::atomic_thread_fence(std::memory_order_acquire);
  time = facts[1];
  // relaxed: ordered by the fence above.
  return slot.mark.load(std::memory_order_relaxed) == done;
}

std::uint64_t broadcast_find_time(const BroadcastShape& shape, std::uint64_t time) {
  // acquire: pairs with the writer's release of the head.
  const std::uint64_t head = shape.shared->head.load(std::memory_order_acquire);
  std::uint64_t low = shape.oldest(head);
  std::uint64_t high = head;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::uint64_t found = 0;
    // What is overwritten meanwhile counts as older: it is gone.
    const bool is_later = broadcast_time(shape, middle, found) && found >= time;
    if (is_later) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Result<BroadcastStart> broadcast_start(const BroadcastShape& shape) {
  BroadcastStart start;
  start.head = shape.shared->head.load();
  const std::uint64_t mark = shape.slot(start.head).mark.load();
  const std::uint64_t sequence = start.head;
  const std::uint64_t lap_ago =
      sequence >= shape.slot_count ? 2 * (sequence - shape.slot_count) + 2 : 0;
  start.completes = mark == 2 * sequence + 2;
  start.discards = mark == 2 * sequence + 1;
  const bool is_right = start.completes || start.discards || mark == lap_ago;
  if (start.completes) ++start.head;
  bool has_last = start.head == 0;
  if (!has_last) has_last = broadcast_time(shape, start.head - 1, start.last_time);
  if (!is_right || !has_last || shape.damaged->load()) {
    return failure(Errc::malformed, "write the broadcast: it is damaged");
  }
  return start;
}

}  // namespace detail

Result<> BroadcastReader::wait(Deadline deadline, const Clock& clock, Doorbell& doorbell) {
  std::byte none{};
  What found = What::none;
  const auto ready = [&] {
    // A copy looks, so that news of a loss stays for read(), and an empty message is not consumed.
    BroadcastReader look = *this;
    found = look.read(std::span(&none, 0)).what;
    return found != What::none;
  };
  bool is_ready = ready();
  if (shape_.is_writable) {
    is_ready =
        is_ready || wait_until_ready(shape_.shared->readers_wait, deadline, clock, doorbell, ready);
  } else {
    while (!is_ready && !deadline.expired(clock.now())) {
      ::poll(nullptr, 0, 1);
      is_ready = ready();
    }
  }
  if (found == What::damaged || shape_.damaged->load()) {
    return failure(Errc::malformed, "wait for a message: the broadcast is damaged");
  }
  if (!is_ready) return failure(Errc::timed_out, "wait for a message");
  return {};
}

}  // namespace sennit::shm
