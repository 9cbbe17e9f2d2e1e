#pragma once
// A fixed number of values, each of them read and written whole: numbers that processes share.
//
//   auto prices = TRY(Array<double>::create(Place::posix("/prices"), {.count = 5'000}));
//   auto writer = TRY(prices.writer());          double now = there.load(17);
//   writer.store(17, 3.5);
//
// Elements that fit one atomic word are atomics; larger ones are cells of a seqlock (seqlock.hpp),
// so that a reader never sees half of one. Seqlock<T> is an array of one. New elements are all
// zeros.
//
// Crashes: an element has its last value that store() returned from, or the one being stored; there
// is nothing to recover.
//
// Growing: by the writer, up to count_max; others see it after refresh().
//
// Thread safety: one writer over all processes, used by one thread; load() from any thread. An
// index beyond count() is a defect of the caller and stops the program. The Array must outlive its
// writer.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/base/result.hpp"
#include "sennit/shm/lease.hpp"
#include "sennit/shm/segment.hpp"
#include "sennit/shm/seqlock.hpp"
#include "sennit/shm/store.hpp"

namespace sennit::shm {

struct ArrayOptions {
  std::uint64_t count = 1;
  std::uint64_t count_max = 0;  // As far as it may grow; 0 for count.
  std::string label{};
  CreateOptions segment{};
};

namespace detail {
[[nodiscard]] Layout array_layout(const ArrayOptions& options, std::uint64_t cell_bytes,
                                  std::uint64_t hash, std::uint64_t element_bytes);
/// The number of elements. Errors: those of expect(); malformed for a geometry that does not fit.
[[nodiscard]] Result<std::uint64_t> array_count(const Segment& segment, const Layout& wanted,
                                                std::uint64_t cell_bytes);
}  // namespace detail

template <class T, class Store = RealStore>
class Array {
 public:
  static constexpr bool is_one_word =
      (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  using Cell = std::conditional_t<is_one_word, AtomicCell<T>, SeqlockCell<T>>;

  class Writer {
   public:
    void store(std::uint64_t index, const T& value) {
      SENNIT_ASSERT(index < *count_, index, *count_);
      cells_[index].template store<Store>(value);
    }
    [[nodiscard]] const Recovery& recovery() const { return recovery_; }

   private:
    friend class Array;
    Writer(Cell* cells, const std::uint64_t* count, OwnerLease lease)
        : cells_(cells), count_(count), lease_(std::move(lease)) {
      recovery_.took_over = lease_.took_over();
      recovery_.kept = *count_;
    }
    Cell* cells_;
    const std::uint64_t* count_;
    Recovery recovery_;
    OwnerLease lease_;
  };

  [[nodiscard]] static Result<Array> create(const Place& place, const ArrayOptions& options) {
    return from(Segment::create(place, layout(options), options.segment));
  }
  /// Errors: invalid_argument for an array of another T.
  [[nodiscard]] static Result<Array> open(const Place& place, Access access) {
    return from(Segment::open(place, access));
  }
  [[nodiscard]] static Result<Array> open_or_create(const Place& place,
                                                    const ArrayOptions& options) {
    return from(Segment::open_or_create(place, layout(options), options.segment));
  }
  [[nodiscard]] static Result<Array> from(Result<Segment> segment) {
    if (!segment) return failure(std::move(segment).error());
    SENNIT_TRY(const std::uint64_t count, detail::array_count(*segment, layout({}), sizeof(Cell)));
    return Array(std::move(*segment), count);
  }

  /// Errors: already_exists while another writer lives; permission_denied when opened read-only.
  [[nodiscard]] Result<Writer> writer() {
    SENNIT_TRY(OwnerLease lease, OwnerLease::acquire(segment_));
    return Writer(cells_, count_.get(), std::move(lease));
  }

  /// The value, whole. Zeros from memory that was cut off: see is_damaged().
  [[nodiscard]] T load(std::uint64_t index) const {
    SENNIT_ASSERT(index < *count_, index, *count_);
    return cells_[index].load();
  }
  [[nodiscard]] std::uint64_t count() const { return *count_; }
  [[nodiscard]] bool is_damaged() const { return segment_.is_damaged(); }

  /// For the writer's process. Errors: limit_reached beyond count_max, and those of Segment::grow.
  [[nodiscard]] Result<> grow(std::uint64_t count) {
    if (count > segment_bytes_max / sizeof(Cell)) return failure(Errc::limit_reached, "grow");
    if (auto grown = segment_.grow(count * sizeof(Cell), {count}); !grown) return grown;
    *count_ = count;
    return {};
  }
  [[nodiscard]] Result<> refresh() {
    if (auto seen = segment_.refresh(); !seen) return seen;
    SENNIT_TRY(*count_, detail::array_count(segment_, layout({}), sizeof(Cell)));
    return {};
  }
  [[nodiscard]] Segment& segment() { return segment_; }

 private:
  Array(Segment segment, std::uint64_t count)
      : segment_(std::move(segment)),
        cells_(reinterpret_cast<Cell*>(segment_.body().data())),
        count_(std::make_unique<std::uint64_t>(count)) {}
  static Layout layout(const ArrayOptions& options) {
    return detail::array_layout(options, sizeof(Cell), element_hash<T>(), sizeof(T));
  }

  Segment segment_;
  Cell* cells_;
  std::unique_ptr<std::uint64_t> count_;  // Its own place, so that a writer sees it grow.
};

/// One value of any size, shared whole: an array of one, without the index.
template <class T, class Store = RealStore>
class Seqlock {
 public:
  class Writer {
   public:
    void store(const T& value) { writer_.store(0, value); }

   private:
    friend class Seqlock;
    explicit Writer(typename Array<T, Store>::Writer writer) : writer_(std::move(writer)) {}
    typename Array<T, Store>::Writer writer_;
  };

  [[nodiscard]] static Result<Seqlock> create(const Place& place,
                                              const CreateOptions& options = {}) {
    SENNIT_TRY(auto array, (Array<T, Store>::create(place, {1, 1, {}, options})));
    return Seqlock(std::move(array));
  }
  [[nodiscard]] static Result<Seqlock> open(const Place& place, Access access) {
    SENNIT_TRY(auto array, (Array<T, Store>::open(place, access)));
    return Seqlock(std::move(array));
  }
  [[nodiscard]] Result<Writer> writer() {
    SENNIT_TRY(auto writer, array_.writer());
    return Writer(std::move(writer));
  }
  [[nodiscard]] T load() const { return array_.load(0); }

 private:
  explicit Seqlock(Array<T, Store> array) : array_(std::move(array)) {}
  Array<T, Store> array_;
};

}  // namespace sennit::shm
