#include "sennit/shm/queue.hpp"

#include <algorithm>
#include <bit>

namespace sennit::shm::detail {
namespace {

constexpr std::uint64_t ring_bytes_max = segment_bytes_max / 2;

std::uint64_t least_ring_bytes(std::uint64_t message_bytes_max) {
  return 2 * QueueShape::record_bytes(message_bytes_max);
}

}  // namespace

Layout queue_layout(const QueueOptions& options) {
  const std::uint64_t wanted = std::max(
      {options.capacity_bytes, least_ring_bytes(options.message_bytes_max), std::uint64_t{64}});
  // What no segment can hold is refused by Segment; here it must only not overflow.
  const bool is_too_large = wanted > ring_bytes_max || options.message_bytes_max >= queue_skip - 1;
  const std::uint64_t ring = is_too_large ? segment_bytes_max : std::bit_ceil(wanted);
  Layout layout;
  layout.kind = Kind::queue;
  layout.body_bytes = sizeof(QueueShared) + ring;
  layout.geometry = {ring, options.message_bytes_max};
  layout.label = options.label;
  return layout;
}

Result<QueueShape> queue_shape(const Segment& segment) {
  Layout wanted;
  wanted.kind = Kind::queue;
  if (auto fits = expect(segment.info(), wanted); !fits) return failure(fits.error());
  const auto [ring, message, r2, r3, r4, r5, r6, r7] = segment.info().geometry;
  const bool is_right = ring >= 64 && ring <= ring_bytes_max && std::has_single_bit(ring) &&
                        message < queue_skip - 1 && least_ring_bytes(message) <= ring &&
                        segment.body().size() == sizeof(QueueShared) + ring;
  if (!is_right || (r2 | r3 | r4 | r5 | r6 | r7) != 0) {
    return failure(Errc::malformed,
                   "use " + segment.place().to_string() + " as a queue: its geometry");
  }
  QueueShape shape;
  shape.shared = reinterpret_cast<QueueShared*>(segment.body().data());
  shape.ring = segment.body().data() + sizeof(QueueShared);
  shape.ring_bytes = ring;
  shape.message_bytes_max = static_cast<std::uint32_t>(message);
  shape.damaged = &segment.damage_flag();
  return shape;
}

Result<QueueEnd> find_end(const QueueShape& shape) {
  using What = QueueRecord::What;
  // acquire: pairs with the consumer's release, as look_for_space() does.
  const std::uint64_t start = shape.shared->consumed.load(std::memory_order_acquire);
  if (start % 8 != 0) return queue_is_damaged();
  QueueEnd end{start, 0};
  while (end.position - start < shape.ring_bytes) {
    const QueueRecord record = read_record(shape, end.position);
    if (record.what == What::none) break;
    if (record.what == What::damaged) return queue_is_damaged();
    if (record.what == What::message) ++end.message_count;
    end.position = record.next;
  }
  if (end.position - start >= shape.ring_bytes || shape.damaged->load()) return queue_is_damaged();
  return end;
}

std::unexpected<Error> queue_is_damaged() {
  return failure(Errc::malformed, "use the queue: it is damaged");
}
std::unexpected<Error> queue_wait_timed_out() {
  return failure(Errc::timed_out, "wait for the other side of the queue");
}

}  // namespace sennit::shm::detail
