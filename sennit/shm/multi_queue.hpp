#pragma once
// Messages from several processes to one: in the order in which their slots were claimed, each
// once.
//
// A ring of slots. The state of a slot is one word: a lap, what is there, and who claimed it.
//
// 1. A slot of lap n is free for message n * slots + index. A producer claims it by one
// compare-and-
//    exchange from free to claimed, which carries its number in the table of producers: from
//    the first moment on it is known who owes the message.
// 2. It copies the message in, and exchanges claimed for ready, with release. What push() returned
// from
//    is delivered; killed before that, the producer leaves a claim.
// 3. The consumer takes ready with acquire, in order of the slots. At a claim it waits for the
// claimer,
//    unless that is dead: then the claim is passed over and counted. A stopped producer holds up
//    the queue until it goes on or ends.
// 4. A released slot is free for the next lap. The consumer's position is stored after that, so
//    that the next consumer at most looks again at slots that are free already.
// 5. A producer's number is its entry, claimed by its process, in the table. The entry of a dead
// one
//    is used again only after everything that it had claimed was passed over.
//
// Thread safety: each Producer and the Consumer by one thread at a time; a producer for each
// thread. One consumer over all processes. The MultiQueue must outlive its sides.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/shm/doorbell.hpp"
#include "sennit/shm/lease.hpp"
#include "sennit/shm/queue.hpp"
#include "sennit/shm/segment.hpp"
#include "sennit/shm/store.hpp"

namespace sennit::shm {

struct MultiQueueOptions {
  std::uint64_t slot_count = 1024;  // Rounded up to a power of two.
  std::uint32_t message_bytes_max = 256;
  std::string label{};
  CreateOptions segment{};
};

inline constexpr std::size_t multi_queue_producers_max = 64;

struct MultiQueueShared {
  alignas(128) std::atomic<std::uint64_t> next;      // About where the next free slot is: a hint.
  alignas(128) std::atomic<std::uint64_t> consumed;  // The consumer's position.
  alignas(128) WaitWord consumer_waits;
  alignas(128) std::atomic<std::uint64_t> producers[multi_queue_producers_max];  // Processes.
};

namespace detail {

/// What a slot's word says: the lap, what is there, and the claimer's number plus 1.
struct SlotWord {
  enum What : std::uint64_t { free = 0, claimed = 1, ready = 2, skipped = 3 };

  /// The word of a free slot in the first lap is zero, as new memory is.
  static std::uint64_t make(std::uint64_t lap, What what, std::uint64_t producer) {
    return lap << 10 | what << 8 | producer;
  }
  static std::uint64_t lap(std::uint64_t word) { return word >> 10; }
  static What what_of(std::uint64_t word) { return static_cast<What>(word >> 8 & 3); }
  static std::uint64_t producer_of(std::uint64_t word) { return word & 0xff; }
};

struct MultiQueueSlot {
  std::atomic<std::uint64_t> word;
  std::uint64_t bytes;  // Written by who claimed it, read when it is ready.

  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};

struct MultiQueueShape {
  MultiQueueShared* shared = nullptr;
  std::byte* slots = nullptr;
  std::uint64_t slot_count = 0;
  std::uint64_t slot_bytes = 0;
  std::uint32_t message_bytes_max = 0;
  unsigned slot_bits = 0;
  const std::atomic<bool>* damaged = nullptr;

  MultiQueueSlot& slot(std::uint64_t position) const {
    return *reinterpret_cast<MultiQueueSlot*>(slots + (position & (slot_count - 1)) * slot_bytes);
  }
  std::uint64_t lap(std::uint64_t position) const { return position >> slot_bits; }
};

[[nodiscard]] Layout multi_queue_layout(const MultiQueueOptions& options);
[[nodiscard]] Result<MultiQueueShape> multi_queue_shape(const Segment& segment);
/// Whether the process of a producer's entry certainly runs no more.
[[nodiscard]] bool producer_is_dead(const MultiQueueShape& shape, std::uint64_t producer);
/// An entry of the table, claimed for this process; passes over what its last owner left claimed.
/// Errors: limit_reached when all producers live.
[[nodiscard]] Result<std::uint64_t> claim_producer(const MultiQueueShape& shape,
                                                   Recovery& recovery);
void give_back_producer(const MultiQueueShape& shape, std::uint64_t producer) noexcept;

}  // namespace detail

template <class Store>
class BasicMultiQueueProducer {
 public:
  BasicMultiQueueProducer(BasicMultiQueueProducer&& other) noexcept
      : shape_(other.shape_), number_(std::exchange(other.number_, none)) {
    recovery_ = other.recovery_;
  }
  BasicMultiQueueProducer& operator=(BasicMultiQueueProducer&&) = delete;
  ~BasicMultiQueueProducer() {
    if (number_ != none) detail::give_back_producer(shape_, number_);
  }

  /// Copies a message in and publishes it. `full` until the consumer has released a slot.
  Push push(std::span<const std::byte> message) {
    using detail::SlotWord;
    if (message.size() > shape_.message_bytes_max) return Push::too_large;
    // acquire: a hint that others raised after their claims; the claim itself decides.
    std::uint64_t at = shape_.shared->next.load(std::memory_order_acquire);
    for (std::uint64_t tries = 0; tries < 4 * shape_.slot_count + 1'000; ++tries) {
      detail::MultiQueueSlot& slot = shape_.slot(at);
      const std::uint64_t lap = shape_.lap(at);
      // acquire: pairs with the consumer's release of a free slot: it has read what was there.
      std::uint64_t word = slot.word.load(std::memory_order_acquire);
      const std::uint64_t found_lap = SlotWord::lap(word);
      if (found_lap < lap) return shape_.damaged->load() ? Push::damaged : Push::full;
      if (found_lap > lap + 1) {
        // acquire: as above. This thread was stopped for laps; or the word is damaged.
        at = shape_.shared->next.load(std::memory_order_acquire);
        continue;
      }
      if (word != SlotWord::make(lap, SlotWord::free, 0)) {
        raise_next(at);
        ++at;  // Taken, in this lap or even the next: rule 1 has the order of the slots.
        continue;
      }
      // acq_rel: the acquire as above; released, so that who sees the claim sees the table's entry.
      if (Store::compare_exchange(slot.word, word,
                                  SlotWord::make(lap, SlotWord::claimed, number_ + 1),
                                  std::memory_order_acq_rel)) {
        raise_next(at);
        if (fill(slot, lap, message)) return Push::pushed;
      }
    }
    return Push::damaged;  // Nobody is that unlucky.
  }

  void set_doorbell(Doorbell& doorbell) { doorbell_ = &doorbell; }
  [[nodiscard]] const Recovery& recovery() const { return recovery_; }

 private:
  template <class>
  friend class BasicMultiQueue;
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  BasicMultiQueueProducer(const detail::MultiQueueShape& shape, std::uint64_t number)
      : shape_(shape), number_(number) {}

  /// False if the claim was passed over meanwhile, as if this process had ended: nothing happened.
  bool fill(detail::MultiQueueSlot& slot, std::uint64_t lap, std::span<const std::byte> message) {
    using detail::SlotWord;
    const std::uint64_t bytes = message.size();
    Store::copy(&slot.bytes, &bytes, sizeof(bytes));
    Store::copy(slot.data(), message.data(), message.size());
    std::uint64_t claim = SlotWord::make(lap, SlotWord::claimed, number_ + 1);
    // release: pairs with the consumer's acquire: the message is there.
    if (!Store::compare_exchange(slot.word, claim, SlotWord::make(lap, SlotWord::ready, 0),
                                 std::memory_order_release)) {
      return false;
    }
    shape_.shared->consumer_waits.notify(*doorbell_);
    return true;
  }

  void raise_next(std::uint64_t at) {
    std::uint64_t expected = at;
    // release: pairs with the acquire of the hint in push().
    Store::compare_exchange(shape_.shared->next, expected, at + 1, std::memory_order_release);
  }

  detail::MultiQueueShape shape_;
  std::uint64_t number_;
  Doorbell* doorbell_ = &futex_doorbell();
  Recovery recovery_;
};

template <class Store>
class BasicMultiQueueConsumer {
 public:
  /// The next message, in its slot, valid until release(); none if there is none, if its producer
  /// is not ready yet, or if the queue is damaged.
  [[nodiscard]] std::optional<std::span<const std::byte>> peek() {
    using detail::SlotWord;
    for (;;) {
      detail::MultiQueueSlot& slot = shape_.slot(position_);
      // acquire: pairs with the producer's release: the message is there.
      std::uint64_t word = slot.word.load(std::memory_order_acquire);
      const std::uint64_t lap = SlotWord::lap(word);
      if (lap == shape_.lap(position_) + 1 && SlotWord::what_of(word) == SlotWord::free) {
        ++position_;  // Rule 4: released, but the position was not stored any more.
        continue;
      }
      if (lap != shape_.lap(position_)) return wrong();
      const SlotWord::What what = SlotWord::what_of(word);
      if (what == SlotWord::free) return std::nullopt;
      if (what == SlotWord::claimed) {
        if (!may_pass_over(word)) return std::nullopt;
        // acq_rel: pairs with a claimer that is alive after all: one of the two exchanges fails.
        if (Store::compare_exchange(slot.word, word, SlotWord::make(lap, SlotWord::skipped, 0),
                                    std::memory_order_acq_rel)) {
          ++passed_over_;
        }
        continue;
      }
      if (what == SlotWord::skipped) {
        release();
        continue;
      }
      const std::uint64_t bytes = slot.bytes;
      // relaxed: raised by a signal on this thread.
      if (bytes > shape_.message_bytes_max || shape_.damaged->load(std::memory_order_relaxed)) {
        return wrong();
      }
      return std::span<const std::byte>(slot.data(), bytes);
    }
  }

  /// Done with the message peeked at.
  void release() {
    using detail::SlotWord;
    // release: pairs with the claimer's acquire: we have read what it may write over.
    Store::store(shape_.slot(position_).word,
                 SlotWord::make(shape_.lap(position_) + 1, SlotWord::free, 0),
                 std::memory_order_release);
    ++position_;
    claim_seen_ = 0;
    // release: for the next consumer only, which attaches after this one.
    Store::store(shape_.shared->consumed, position_, std::memory_order_release);
  }

  /// Waits for a message. Errors: timed_out; malformed, if the queue is damaged. Passes over what
  /// dead producers left within half a second.
  [[nodiscard]] Result<> wait(Deadline deadline, const Clock& clock) {
    const bool ready = wait_until_ready(shape_.shared->consumer_waits, deadline, clock, *doorbell_,
                                        [&] { return peek().has_value() || is_damaged(); });
    if (is_damaged()) return detail::queue_is_damaged();
    if (!ready) return detail::queue_wait_timed_out();
    return {};
  }
  void set_doorbell(Doorbell& doorbell) { doorbell_ = &doorbell; }
  [[nodiscard]] WaitWord& wait_word() { return shape_.shared->consumer_waits; }

  [[nodiscard]] bool is_damaged() const { return is_wrong_ || shape_.damaged->load(); }
  /// Claims of dead producers that were passed over.
  [[nodiscard]] std::uint64_t passed_over() const { return passed_over_; }
  [[nodiscard]] const Recovery& recovery() const { return recovery_; }

 private:
  template <class>
  friend class BasicMultiQueue;
  BasicMultiQueueConsumer(const detail::MultiQueueShape& shape, OwnerLease lease)
      : shape_(shape), position_(shape.shared->consumed.load()), lease_(std::move(lease)) {
    recovery_.took_over = lease_.took_over();
  }

  std::optional<std::span<const std::byte>> wrong() {
    is_wrong_ = true;
    return std::nullopt;
  }
  /// Asking the system is dear: on the first look at a claim, and every 1024th after that.
  bool may_pass_over(std::uint64_t word) {
    return claim_seen_++ % 1024 == 0 &&
           detail::producer_is_dead(shape_, detail::SlotWord::producer_of(word) - 1);
  }

  detail::MultiQueueShape shape_;
  std::uint64_t position_;
  std::uint64_t claim_seen_ = 0;
  std::uint64_t passed_over_ = 0;
  Doorbell* doorbell_ = &futex_doorbell();
  bool is_wrong_ = false;
  Recovery recovery_;
  OwnerLease lease_;
};

template <class Store>
class BasicMultiQueue {
 public:
  using Producer = BasicMultiQueueProducer<Store>;
  using Consumer = BasicMultiQueueConsumer<Store>;

  [[nodiscard]] static Result<BasicMultiQueue> create(const Place& place,
                                                      const MultiQueueOptions& options) {
    return from(Segment::create(place, detail::multi_queue_layout(options), options.segment));
  }
  [[nodiscard]] static Result<BasicMultiQueue> open(const Place& place) {
    return from(Segment::open(place, Access::read_write));
  }
  [[nodiscard]] static Result<BasicMultiQueue> open_or_create(const Place& place,
                                                              const MultiQueueOptions& options) {
    return from(
        Segment::open_or_create(place, detail::multi_queue_layout(options), options.segment));
  }
  [[nodiscard]] static Result<BasicMultiQueue> from(Result<Segment> segment) {
    if (!segment) return failure(std::move(segment).error());
    SENNIT_TRY(const detail::MultiQueueShape shape, detail::multi_queue_shape(*segment));
    join_barriers();
    return BasicMultiQueue(std::move(*segment), shape);
  }

  /// Errors: limit_reached while multi_queue_producers_max live ones push; permission_denied.
  [[nodiscard]] Result<Producer> producer() {
    Recovery recovery;
    SENNIT_TRY(const std::uint64_t number, detail::claim_producer(shape_, recovery));
    Producer made(shape_, number);
    made.recovery_ = recovery;
    return made;
  }
  /// Errors: already_exists while another consumer lives.
  [[nodiscard]] Result<Consumer> consumer() {
    SENNIT_TRY(OwnerLease lease, OwnerLease::acquire(segment_, Role::consumer));
    return Consumer(shape_, std::move(lease));
  }
  [[nodiscard]] Segment& segment() { return segment_; }

 private:
  BasicMultiQueue(Segment segment, const detail::MultiQueueShape& shape)
      : segment_(std::move(segment)), shape_(shape) {}
  Segment segment_;
  detail::MultiQueueShape shape_;
};

using MultiQueue = BasicMultiQueue<RealStore>;

}  // namespace sennit::shm
