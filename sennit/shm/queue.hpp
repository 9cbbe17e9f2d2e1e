#pragma once
// Messages from one process to another: bytes of any length up to a limit, in order, each once.
//
//   auto queue = TRY(Queue::create(Place::posix("/orders"), {.capacity_bytes = 1 << 20}));
//   auto producer = TRY(queue.producer());            auto consumer = TRY(there.consumer());
//   producer.push(bytes);                             while (auto bytes = consumer.peek()) {
//                                                       use(*bytes); consumer.release(); }
//
// The ring holds records of 8-byte words, each a header and the message. A header carries its own
// position and the length, so that a consumer looks only at the record it wants next and never at
// the producer's counter:
//
//   | position, length | bytes ....... | position, length | bytes .. | 0 | free ...
//
// 1. The producer writes the message, a zero where the next header will be, and then the header,
//    with release: what stands before the first zero is complete, whoever died.
// 2. A batch is written the same way, the header of its first record last: all of it or nothing.
// 3. A record does not wrap: the rest of the ring is skipped by a header of its own. The ring is at
//    least twice the largest record, so that a message which fits an empty queue fits wherever it
//    is.
// 4. The consumer's position is one word, stored with release when it releases: space is reused
// only
//    after it. The producer reads it when it believes that the ring is full.
//
// Crashes: what push() or flush() returned from is delivered; what had not, is there whole or not
// at all. A new producer walks the records from the consumer's position to the first zero (bounded
// by the ring). What a consumer had peeked at but not released is delivered again to the next one.
//
// Thread safety: one producer and one consumer, each used by one thread at a time; a Queue object
// is used by one thread. Queue must outlive its sides. One producer and one consumer per queue over
// all processes: a second is refused (already_exists) while the first lives.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/shm/doorbell.hpp"
#include "sennit/shm/lease.hpp"
#include "sennit/shm/segment.hpp"
#include "sennit/shm/store.hpp"

namespace sennit::shm {

struct QueueOptions {
  std::uint64_t capacity_bytes = 64 * 1024;    // Of the ring: messages and 8 bytes for each.
  std::uint32_t message_bytes_max = 8 * 1024;  // The ring is made large enough for two.
  std::string label{};
  CreateOptions segment{};
};

enum class Push : std::uint8_t { pushed, full, too_large, damaged };

/// In shared memory, at the start of the body; the ring follows. Two lines apart, so that no two
/// sides share a line nor the pair of lines that is fetched together.
struct QueueShared {
  alignas(128) std::atomic<std::uint64_t> consumed;  // The consumer's position, in bytes, for ever.
  alignas(128) WaitWord consumer_waits;
  alignas(128) WaitWord producer_waits;
};

namespace detail {

inline constexpr std::uint32_t queue_skip = 0xffff'ffff;

/// Where everything is, from the validated header: never read again from shared memory.
struct QueueShape {
  QueueShared* shared = nullptr;
  std::byte* ring = nullptr;
  std::uint64_t ring_bytes = 0;  // A power of two.
  std::uint32_t message_bytes_max = 0;
  const std::atomic<bool>* damaged = nullptr;

  std::uint64_t offset(std::uint64_t position) const { return position & (ring_bytes - 1); }
  std::uint64_t contiguous(std::uint64_t position) const { return ring_bytes - offset(position); }
  std::atomic<std::uint64_t>& header(std::uint64_t position) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(ring + offset(position));
  }
  static std::uint64_t record_bytes(std::uint64_t message_bytes) {
    return 8 + round_up_to_word(message_bytes);
  }
  /// Never zero: what stands for a length is one more.
  static std::uint64_t header_word(std::uint64_t position, std::uint32_t length_word) {
    return (position >> 3) << 32 | length_word;
  }
};

struct QueueRecord {
  enum class What : std::uint8_t { none, message, skip, damaged };
  What what = What::none;
  std::uint32_t bytes = 0;
  std::uint64_t next = 0;  // The position behind it.
};

/// What the header at a position says, every part of it checked.
inline QueueRecord read_record(const QueueShape& shape, std::uint64_t position) {
  using What = QueueRecord::What;
  // acquire: pairs with the release of the header in flush(): the bytes are there.
  const std::uint64_t word = shape.header(position).load(std::memory_order_acquire);
  if (word == 0) return {};
  const auto length_word = static_cast<std::uint32_t>(word);
  if (word >> 32 != ((position >> 3) & 0xffff'ffff) || length_word == 0) return {What::damaged};
  const std::uint64_t contiguous = shape.contiguous(position);
  if (length_word == queue_skip) {
    if (contiguous == shape.ring_bytes) return {What::damaged};
    return {What::skip, 0, position + contiguous};
  }
  const std::uint32_t bytes = length_word - 1;
  const std::uint64_t record = QueueShape::record_bytes(bytes);
  if (bytes > shape.message_bytes_max || record > contiguous) return {What::damaged};
  return {What::message, bytes, position + record};
}

[[nodiscard]] Layout queue_layout(const QueueOptions& options);
/// Errors: malformed, for a geometry that the body cannot hold.
[[nodiscard]] Result<QueueShape> queue_shape(const Segment& segment);

struct QueueEnd {
  std::uint64_t position = 0;
  std::uint64_t message_count = 0;
};
/// Walks from the consumer's position to the first zero. Errors: malformed.
[[nodiscard]] Result<QueueEnd> find_end(const QueueShape& shape);

[[nodiscard]] std::unexpected<Error> queue_is_damaged();
[[nodiscard]] std::unexpected<Error> queue_wait_timed_out();

}  // namespace detail

template <class Store>
class BasicQueueProducer {
 public:
  /// Copies a message in and publishes it. `full` until the consumer has released enough.
  Push push(std::span<const std::byte> message) {
    const Push staged = stage(message);
    if (staged == Push::pushed) [[likely]] {
      flush();
      // relaxed: raised by a signal on this thread.
      if (shape_.damaged->load(std::memory_order_relaxed)) [[unlikely]] {
        return Push::damaged;
      }
    }
    return staged;
  }

  /// Copies a message in; the consumer sees it with the next flush(), push() or commit(). What is
  /// never flushed is forgotten.
  Push stage(std::span<const std::byte> message) {
    std::byte* const to = reserve(message.size());
    if (to == nullptr) [[unlikely]] {
      return why_not(message.size());
    }
    Store::copy(to, message.data(), message.size());
    stage_reserved(static_cast<std::uint32_t>(message.size()));
    return Push::pushed;
  }

  /// Publishes what was staged, all of it at one instant.
  void flush() {
    if (first_word_ == 0) return;
    // relaxed: published by the release below. Rule 1: whoever reads past the batch finds its end.
    Store::store(shape_.header(head_), 0, std::memory_order_relaxed);
    // release: pairs with the acquire in read_record(): the bytes, and the end, are there.
    Store::store(shape_.header(published_), first_word_, std::memory_order_release);
    published_ = head_;
    first_word_ = 0;
    shape_.shared->consumer_waits.notify(*doorbell_);
  }

  /// Room for a message in the ring itself; null if there is none (why_not() says the reason).
  /// Valid until the next call; a reservation that is not committed is forgotten.
  std::byte* reserve(std::size_t bytes) {
    if (bytes > shape_.message_bytes_max) return nullptr;
    const std::uint64_t record = detail::QueueShape::record_bytes(bytes);
    const std::uint64_t contiguous = shape_.contiguous(head_);
    const std::uint64_t skipped = record <= contiguous ? 0 : contiguous;
    if (head_ + skipped + record + 8 > limit_) [[unlikely]] {
      if (!look_for_space(skipped + record + 8)) return nullptr;
    }
    reserved_ = head_ + skipped;
    return shape_.ring + shape_.offset(reserved_) + 8;
  }
  /// Publishes the reservation as a message of that many bytes, no more than were reserved.
  void commit(std::uint32_t bytes) {
    stage_reserved(bytes);
    flush();
  }

  [[nodiscard]] Push why_not(std::size_t bytes) const {
    if (bytes > shape_.message_bytes_max) return Push::too_large;
    return is_damaged() ? Push::damaged : Push::full;
  }

  /// Waits until a message of that size fits. Errors: timed_out; malformed, if the queue is
  /// damaged; invalid_argument for more than the limit. Blocks the thread, or what the doorbell
  /// blocks.
  [[nodiscard]] Result<> wait_for_space(std::size_t bytes, Deadline deadline, const Clock& clock) {
    if (bytes > shape_.message_bytes_max) {
      return failure(Errc::invalid_argument, "queue a message larger than the limit");
    }
    const bool ready = wait_until_ready(shape_.shared->producer_waits, deadline, clock, *doorbell_,
                                        [&] { return reserve(bytes) != nullptr || is_damaged(); });
    if (is_damaged()) return detail::queue_is_damaged();
    if (!ready) return detail::queue_wait_timed_out();
    return {};
  }
  /// For waiting by other means: see doorbell.hpp, rule 1.
  [[nodiscard]] WaitWord& wait_word() { return shape_.shared->producer_waits; }
  /// What rings for the consumer; must outlive this. The futex unless set.
  void set_doorbell(Doorbell& doorbell) { doorbell_ = &doorbell; }

  [[nodiscard]] bool is_damaged() const { return is_wrong_ || shape_.damaged->load(); }
  [[nodiscard]] const Recovery& recovery() const { return recovery_; }

 private:
  template <class>
  friend class BasicQueue;
  BasicQueueProducer(detail::QueueShape shape, OwnerLease lease, const detail::QueueEnd& end)
      : shape_(shape), head_(end.position), published_(head_), lease_(std::move(lease)) {
    recovery_.took_over = lease_.took_over();
    recovery_.kept = end.message_count;
  }

  void put_header(std::uint64_t position, std::uint32_t length_word) {
    const std::uint64_t word = detail::QueueShape::header_word(position, length_word);
    if (first_word_ == 0) {
      first_word_ = word;
    } else {
      // relaxed: unreachable before the first header of its batch is published.
      Store::store(shape_.header(position), word, std::memory_order_relaxed);
    }
  }

  void stage_reserved(std::uint32_t bytes) {
    if (reserved_ != head_) put_header(head_, detail::queue_skip);
    put_header(reserved_, bytes + 1);
    head_ = reserved_ + detail::QueueShape::record_bytes(bytes);
    reserved_ = head_;
  }

  bool look_for_space(std::uint64_t wanted) {
    // acquire: pairs with the consumer's release: it has read what we are about to write over.
    const std::uint64_t consumed = shape_.shared->consumed.load(std::memory_order_acquire);
    if (published_ - consumed > shape_.ring_bytes || shape_.damaged->load()) {
      is_wrong_ = true;
      return false;
    }
    limit_ = consumed + shape_.ring_bytes;
    return head_ + wanted <= limit_;
  }

  detail::QueueShape shape_;
  std::uint64_t head_;            // Where the next record goes.
  std::uint64_t published_;       // Where the first record goes that is not published yet.
  std::uint64_t first_word_ = 0;  // Its header, which is written last; 0 if there is none.
  std::uint64_t limit_ = 0;       // Up to where the consumer was seen to have released.
  std::uint64_t reserved_ = 0;
  Doorbell* doorbell_ = &futex_doorbell();
  bool is_wrong_ = false;
  Recovery recovery_;
  OwnerLease lease_;
};

template <class Store>
class BasicQueueConsumer {
 public:
  /// The next message, in the ring itself, valid until it is released; none if there is none now,
  /// or if the queue is damaged. Peeking again gives the same.
  [[nodiscard]] std::optional<std::span<const std::byte>> peek() {
    using What = detail::QueueRecord::What;
    detail::QueueRecord record = detail::read_record(shape_, tail_);
    if (record.what == What::none) return std::nullopt;
    if (record.what == What::skip) [[unlikely]] {
      tail_ = record.next;
      record = detail::read_record(shape_, tail_);
    }
    // relaxed: raised by a signal on this thread.
    if (record.what != What::message || shape_.damaged->load(std::memory_order_relaxed))
        [[unlikely]] {
      is_wrong_ = true;  // A skip is published together with the message behind it.
      return std::nullopt;
    }
    next_ = record.next;
    return std::span<const std::byte>(shape_.ring + shape_.offset(tail_) + 8, record.bytes);
  }

  /// Done with the message peeked at. Its space stays taken until publish(): for batches.
  void advance() { tail_ = next_; }
  /// Gives back the space of all that was advanced over; only then is it not delivered again.
  void publish() {
    // release: pairs with the producer's acquire: we have read what it may now write over.
    Store::store(shape_.shared->consumed, tail_, std::memory_order_release);
    shape_.shared->producer_waits.notify(*doorbell_);
  }
  void release() {
    advance();
    publish();
  }

  /// Waits for a message. Errors: timed_out; malformed, if the queue is damaged. Blocks the thread,
  /// or what the doorbell blocks.
  [[nodiscard]] Result<> wait(Deadline deadline, const Clock& clock) {
    const bool ready = wait_until_ready(shape_.shared->consumer_waits, deadline, clock, *doorbell_,
                                        [&] { return peek().has_value() || is_damaged(); });
    if (is_damaged()) return detail::queue_is_damaged();
    if (!ready) return detail::queue_wait_timed_out();
    return {};
  }
  /// For waiting by other means: see doorbell.hpp, rule 1.
  [[nodiscard]] WaitWord& wait_word() { return shape_.shared->consumer_waits; }
  void set_doorbell(Doorbell& doorbell) { doorbell_ = &doorbell; }

  [[nodiscard]] bool is_damaged() const { return is_wrong_ || shape_.damaged->load(); }
  [[nodiscard]] const Recovery& recovery() const { return recovery_; }

 private:
  template <class>
  friend class BasicQueue;
  BasicQueueConsumer(detail::QueueShape shape, OwnerLease lease, std::uint64_t consumed,
                     std::uint64_t message_count)
      : shape_(shape), tail_(consumed), next_(consumed), lease_(std::move(lease)) {
    recovery_.took_over = lease_.took_over();
    recovery_.kept = message_count;
  }

  detail::QueueShape shape_;
  std::uint64_t tail_;
  std::uint64_t next_;
  Doorbell* doorbell_ = &futex_doorbell();
  bool is_wrong_ = false;
  Recovery recovery_;
  OwnerLease lease_;
};

template <class Store>
class BasicQueue {
 public:
  using Producer = BasicQueueProducer<Store>;
  using Consumer = BasicQueueConsumer<Store>;

  /// Errors: those of Segment::create, open and open_or_create; malformed for a damaged geometry.
  [[nodiscard]] static Result<BasicQueue> create(const Place& place, const QueueOptions& options) {
    return from(Segment::create(place, detail::queue_layout(options), options.segment));
  }
  [[nodiscard]] static Result<BasicQueue> open(const Place& place) {
    return from(Segment::open(place, Access::read_write));
  }
  [[nodiscard]] static Result<BasicQueue> open_or_create(const Place& place,
                                                         const QueueOptions& options) {
    return from(Segment::open_or_create(place, detail::queue_layout(options), options.segment));
  }
  /// Over a segment that came some other way: received, or inherited.
  [[nodiscard]] static Result<BasicQueue> from(Result<Segment> segment) {
    if (!segment) return failure(std::move(segment).error());
    SENNIT_TRY(const detail::QueueShape shape, detail::queue_shape(*segment));
    join_barriers();
    return BasicQueue(std::move(*segment), shape);
  }

  /// Becomes the one producer; recovers what the last one left. Errors: already_exists while
  /// another lives; malformed, if what is in the ring makes no sense.
  [[nodiscard]] Result<Producer> producer() {
    SENNIT_TRY(OwnerLease lease, OwnerLease::acquire(segment_, Role::writer));
    SENNIT_TRY(const detail::QueueEnd end, detail::find_end(shape_));
    return Producer(shape_, std::move(lease), end);
  }
  [[nodiscard]] Result<Consumer> consumer() {
    SENNIT_TRY(OwnerLease lease, OwnerLease::acquire(segment_, Role::consumer));
    SENNIT_TRY(const detail::QueueEnd end, detail::find_end(shape_));
    return Consumer(shape_, std::move(lease), shape_.shared->consumed.load(), end.message_count);
  }

  [[nodiscard]] Segment& segment() { return segment_; }
  [[nodiscard]] const detail::QueueShape& shape() const { return shape_; }

 private:
  BasicQueue(Segment segment, const detail::QueueShape& shape)
      : segment_(std::move(segment)), shape_(shape) {}
  Segment segment_;
  detail::QueueShape shape_;
};

using Queue = BasicQueue<RealStore>;

}  // namespace sennit::shm
