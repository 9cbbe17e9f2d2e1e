#pragma once
// One writer, any number of readers, each at its own position: the last N messages, always
// readable.
//
//   auto feed = TRY(Broadcast::create(Place::posix("/prices"), {.slot_count = 1024}));
//   auto writer = TRY(feed.writer());      auto reader = there.reader_from_now();
//   writer.push(bytes, time);              auto got = reader.read(buffer);
//
// The writer never waits and knows no reader. A reader that is overtaken is told exactly how many
// messages it lost, and goes on with the oldest one that is there. Readers write nothing: they may
// open the segment read-only.
//
// A ring of slots, message number s in slot s % N:
//
// 1. The writer marks the slot (2s + 1), fences, copies the length, the time and the bytes in,
//    word by word, then marks it done (2s + 2) with release, then advances the head with release.
// 2. A reader takes the mark with acquire, copies word by word, fences, and looks at the mark
// again:
//    what it copied counts only if the mark was 2s + 2 both times. Nothing torn gets out.
// 3. A mark above 2s + 2 says that s was overtaken. The head, read after it, says by how much.
// 4. A writer that died in between left a mark without a head (done: the next writer advances the
//    head) or a mark of its own (the next writer writes that message anew).
//
// Thread safety: one writer over all processes, used by one thread; a reader object is used by one
// thread. The Broadcast must outlive its writer and readers.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/shm/doorbell.hpp"
#include "sennit/shm/lease.hpp"
#include "sennit/shm/segment.hpp"
#include "sennit/shm/store.hpp"

namespace sennit::shm {

struct BroadcastOptions {
  std::uint64_t slot_count = 1024;  // Rounded up to a power of two; one less are always readable.
  std::uint32_t message_bytes_max = 256;
  std::string label{};
  CreateOptions segment{};
};

struct BroadcastShared {
  alignas(128) std::atomic<std::uint64_t> head;  // How many messages were completed.
  alignas(128) WaitWord readers_wait;
};

/// What a read gave.
struct BroadcastRead {
  enum class What : std::uint8_t {
    message,
    none,       // Nothing new.
    lost,       // `lost` messages were overwritten; the reader stands at the oldest that is there.
    too_small,  // The buffer, for `bytes`; the reader has not moved.
    damaged,
  };
  What what = What::none;
  std::uint32_t bytes = 0;
  std::uint64_t sequence = 0;
  std::uint64_t time = 0;  // As the writer gave it.
  std::uint64_t lost = 0;
};

namespace detail {

struct BroadcastSlot {
  std::atomic<std::uint64_t> mark;
  std::uint64_t facts[2];  // Length and time: raced, as the bytes are.

  std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(this + 1); }
  const std::uint64_t* words() const { return reinterpret_cast<const std::uint64_t*>(this + 1); }
};

struct BroadcastShape {
  BroadcastShared* shared = nullptr;
  std::byte* slots = nullptr;
  std::uint64_t slot_count = 0;
  std::uint64_t slot_bytes = 0;
  std::uint32_t message_bytes_max = 0;
  bool is_writable = false;
  const std::atomic<bool>* damaged = nullptr;

  BroadcastSlot& slot(std::uint64_t sequence) const {
    return *reinterpret_cast<BroadcastSlot*>(slots + (sequence & (slot_count - 1)) * slot_bytes);
  }
  /// The oldest that nobody is writing over, when so many were completed.
  std::uint64_t oldest(std::uint64_t head) const {
    return head >= slot_count ? head - slot_count + 1 : 0;
  }
};

[[nodiscard]] Layout broadcast_layout(const BroadcastOptions& options);
[[nodiscard]] Result<BroadcastShape> broadcast_shape(const Segment& segment);
/// What happened to a reader at `sequence` that found `mark` in its slot.
[[nodiscard]] BroadcastRead broadcast_miss(const BroadcastShape& shape, std::uint64_t& sequence,
                                           std::uint64_t mark);
/// The first message that is still there and whose time is not before `time`; the head if none is.
[[nodiscard]] std::uint64_t broadcast_find_time(const BroadcastShape& shape, std::uint64_t time);
/// The time of a message, if it is still there whole.
[[nodiscard]] bool broadcast_time(const BroadcastShape& shape, std::uint64_t sequence,
                                  std::uint64_t& time);
/// Rule 4, for the store policy of the writer. Errors: malformed.
struct BroadcastStart {
  std::uint64_t head = 0;
  std::uint64_t last_time = 0;
  bool completes = false;  // The message at `head - 1` was done, the head only was missing.
  bool discards = false;   // The message at `head` was being written.
};
[[nodiscard]] Result<BroadcastStart> broadcast_start(const BroadcastShape& shape);

}  // namespace detail

class BroadcastReader {
 public:
  using What = BroadcastRead::What;

  BroadcastReader(const detail::BroadcastShape& shape, std::uint64_t position)
      : shape_(shape), position_(position) {}

  /// The next message, copied into `buffer` (of message_bytes_max, to fit any).
  BroadcastRead read(std::span<std::byte> buffer) {
    const detail::BroadcastSlot& slot = shape_.slot(position_);
    const std::uint64_t done = 2 * position_ + 2;
    // acquire: pairs with the writer's release of the same mark (rule 2).
    const std::uint64_t mark = slot.mark.load(std::memory_order_acquire);
    if (mark != done) return miss(mark);
    std::uint64_t facts[2];
    load_raced(facts, slot.facts, sizeof(facts));
    const bool fits = facts[0] <= buffer.size() && facts[0] <= shape_.message_bytes_max;
    if (fits) [[likely]] {
      load_raced(buffer.data(), slot.words(), facts[0]);
    }
    // acquire: pairs with the writer's fence: if a word above came from a later message, the mark
    // below is that message's, or later.
    std::atomic_thread_fence(std::memory_order_acquire);
    // relaxed: ordered by the fence above.
    const std::uint64_t after = slot.mark.load(std::memory_order_relaxed);
    if (after != done) [[unlikely]] {
      return miss(after);
    }
    // relaxed: raised by a signal on this thread.
    if (shape_.damaged->load(std::memory_order_relaxed) || facts[0] > shape_.message_bytes_max)
        [[unlikely]] {
      return {What::damaged};
    }
    const auto bytes = static_cast<std::uint32_t>(facts[0]);
    if (!fits) return {What::too_small, bytes, position_, facts[1], 0};
    return {What::message, bytes, position_++, facts[1], 0};
  }

  /// The sequence number of what read() looks for next.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  void seek(std::uint64_t sequence) { position_ = sequence; }
  /// To the first message there is that is not older than `time`.
  void seek_time(std::uint64_t time) { position_ = detail::broadcast_find_time(shape_, time); }

  /// Waits until there is something to read, also the news that something was lost. A reader that
  /// opened the segment read-only cannot announce itself and looks every millisecond.
  /// Errors: timed_out; malformed, if the memory is damaged.
  [[nodiscard]] Result<> wait(Deadline deadline, const Clock& clock,
                              Doorbell& doorbell = futex_doorbell());
  [[nodiscard]] WaitWord& wait_word() { return shape_.shared->readers_wait; }

 private:
  BroadcastRead miss(std::uint64_t mark) { return detail::broadcast_miss(shape_, position_, mark); }

  detail::BroadcastShape shape_;
  std::uint64_t position_;
};

template <class Store>
class BasicBroadcastWriter {
 public:
  /// Publishes a message and returns true; false if it is larger than message_bytes_max, or if the
  /// memory is damaged. `time` never goes back: an earlier one counts as the last one given.
  bool push(std::span<const std::byte> message, std::uint64_t time = 0) {
    if (message.size() > shape_.message_bytes_max) return false;
    if (time < last_time_) time = last_time_;
    detail::BroadcastSlot& slot = shape_.slot(head_);
    // relaxed: ordered before every word below by the fence (rule 1).
    Store::store(slot.mark, 2 * head_ + 1, std::memory_order_relaxed);
    // release: pairs with the readers' acquire fence: who sees a word below sees this mark.
    std::atomic_thread_fence(std::memory_order_release);
    const std::uint64_t facts[2] = {message.size(), time};
    Store::copy_raced(slot.facts, facts, sizeof(facts));
    Store::copy_raced(slot.words(), message.data(), message.size());
    // release: pairs with the readers' acquire of the mark: the words above are there.
    Store::store(slot.mark, 2 * head_ + 2, std::memory_order_release);
    // release: pairs with the acquire of the head: the mark above is there.
    Store::store(shape_.shared->head, head_ + 1, std::memory_order_release);
    last_time_ = time;
    ++head_;
    shape_.shared->readers_wait.notify(*doorbell_);
    // relaxed: raised by a signal on this thread.
    return !shape_.damaged->load(std::memory_order_relaxed);
  }

  /// How many messages there have been: the number of the next one.
  [[nodiscard]] std::uint64_t head() const { return head_; }
  void set_doorbell(Doorbell& doorbell) { doorbell_ = &doorbell; }
  [[nodiscard]] const Recovery& recovery() const { return recovery_; }

 private:
  template <class>
  friend class BasicBroadcast;
  BasicBroadcastWriter(const detail::BroadcastShape& shape, OwnerLease lease,
                       const detail::BroadcastStart& start)
      : shape_(shape), head_(start.head), last_time_(start.last_time), lease_(std::move(lease)) {
    if (start.completes) {
      // release: as in push().
      Store::store(shape_.shared->head, head_, std::memory_order_release);
    }
    recovery_ = {lease_.took_over(), head_ - shape_.oldest(head_), start.completes ? 1u : 0u,
                 start.discards ? 1u : 0u};
  }

  detail::BroadcastShape shape_;
  std::uint64_t head_;
  std::uint64_t last_time_;
  Doorbell* doorbell_ = &futex_doorbell();
  Recovery recovery_;
  OwnerLease lease_;
};

template <class Store>
class BasicBroadcast {
 public:
  using Writer = BasicBroadcastWriter<Store>;
  using Reader = BroadcastReader;

  [[nodiscard]] static Result<BasicBroadcast> create(const Place& place,
                                                     const BroadcastOptions& options) {
    return from(Segment::create(place, detail::broadcast_layout(options), options.segment));
  }
  [[nodiscard]] static Result<BasicBroadcast> open(const Place& place, Access access) {
    return from(Segment::open(place, access));
  }
  [[nodiscard]] static Result<BasicBroadcast> open_or_create(const Place& place,
                                                             const BroadcastOptions& options) {
    return from(Segment::open_or_create(place, detail::broadcast_layout(options), options.segment));
  }
  [[nodiscard]] static Result<BasicBroadcast> from(Result<Segment> segment) {
    if (!segment) return failure(std::move(segment).error());
    SENNIT_TRY(const detail::BroadcastShape shape, detail::broadcast_shape(*segment));
    join_barriers();
    return BasicBroadcast(std::move(*segment), shape);
  }

  /// Errors: already_exists while another writer lives; permission_denied when opened read-only;
  /// malformed if the marks make no sense.
  [[nodiscard]] Result<Writer> writer() {
    SENNIT_TRY(OwnerLease lease, OwnerLease::acquire(segment_));
    SENNIT_TRY(const detail::BroadcastStart start, detail::broadcast_start(shape_));
    return Writer(shape_, std::move(lease), start);
  }
  /// Reads only what comes from now on.
  [[nodiscard]] Reader reader_from_now() const { return Reader(shape_, head()); }
  /// Begins with the oldest message there is.
  [[nodiscard]] Reader reader_from_oldest() const { return Reader(shape_, shape_.oldest(head())); }
  /// Begins anywhere; what is gone by then is reported as lost.
  [[nodiscard]] Reader reader_from(std::uint64_t sequence) const { return {shape_, sequence}; }

  [[nodiscard]] std::uint64_t head() const { return shape_.shared->head.load(); }
  [[nodiscard]] std::uint32_t message_bytes_max() const { return shape_.message_bytes_max; }
  [[nodiscard]] Segment& segment() { return segment_; }

 private:
  BasicBroadcast(Segment segment, const detail::BroadcastShape& shape)
      : segment_(std::move(segment)), shape_(shape) {}
  Segment segment_;
  detail::BroadcastShape shape_;
};

using Broadcast = BasicBroadcast<RealStore>;

}  // namespace sennit::shm
