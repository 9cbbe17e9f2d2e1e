#pragma once
// Cells: where one worker counts while others look on.
//
// Rules of a cell:
//   1. One thread at a time writes it (the worker it was handed to); any thread may read it.
//   2. The writer adds with a relaxed load and a relaxed store, which compile to the same
//      instructions as on a plain integer: no lock, no atomic read-modify-write.
//   3. Readers see each value whole but not two values of one instant: a histogram read while it
//      is recorded into may lack in its sum what its counts already have, by the records in flight.
//   4. A cell fills its cache lines alone, so that no other worker's writes slow it down.
//
// Cells are handed out by a Counter, a Gauge or a SharedHistogram (metric.hpp), which own them.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "sennit/metrics/histogram.hpp"

namespace sennit::metrics {

inline constexpr std::size_t cache_line_bytes = 64;

/// A number by rules 1 to 3, for what shows numbers of its own. Relaxed, because nothing else is
/// published through it: a reader's load pairs with no store in particular, it wants any recent
/// value, whole.
template <class T>
class OneWriter {
 public:
  explicit OneWriter(T value = {}) : value_(value) {}

  [[nodiscard]] T get() const {
    return value_.load(std::memory_order_relaxed);  // Pairs with the store of set(), see above.
  }
  void set(T value) {
    value_.store(value, std::memory_order_relaxed);  // Pairs with the load of get(), see above.
  }
  void add(T amount) { set(get() + amount); }

 private:
  std::atomic<T> value_;
};

class alignas(cache_line_bytes) CounterCell {
 public:
  void add(std::uint64_t amount = 1) { value_.add(amount); }
  [[nodiscard]] std::uint64_t value() const { return value_.get(); }

 private:
  OneWriter<std::uint64_t> value_;
};

class alignas(cache_line_bytes) GaugeCell {
 public:
  void set(double value) { value_.set(value); }
  /// Negative amounts too: what one worker added another may take away, only the sum is read.
  void add(double amount) { value_.add(amount); }
  [[nodiscard]] double value() const { return value_.get(); }

 private:
  OneWriter<double> value_;
};

/// Records like a Histogram (histogram.hpp).
class alignas(cache_line_bytes) HistogramCell {
 public:
  explicit HistogramCell(HistogramOptions options);

  void record(std::int64_t value) {
    if (!layout_.covers(value)) [[unlikely]] {
      clamped_count_.add(1);
      value = layout_.clamp(value);
    }
    counts_[layout_.index_of(value)].add(1);
    sum_.add(static_cast<std::uint64_t>(value));
    if (value < least_.get()) least_.set(value);
    if (value > greatest_.get()) greatest_.set(value);
  }

  /// Adds what was recorded so far. Requires that `total` has the same options.
  void add_to(Histogram& total) const;
  [[nodiscard]] const HistogramOptions& options() const { return layout_.options(); }

 private:
  HistogramLayout layout_;
  std::unique_ptr<OneWriter<std::uint64_t>[]> counts_;
  OneWriter<std::uint64_t> sum_;
  OneWriter<std::uint64_t> clamped_count_;
  OneWriter<std::int64_t> least_{INT64_MAX};
  OneWriter<std::int64_t> greatest_;
};

}  // namespace sennit::metrics
