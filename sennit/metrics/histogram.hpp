#pragma once
// Histogram: counts of integers with a bounded relative error, for latencies above all.
//
// It answers any percentile afterwards to the promised number of digits, keeps count, sum, least
// and greatest exactly, and merges without loss, so that every thread records into its own and one
// sum is reported. Memory is fixed by the options (see histogram_layout.hpp) and taken at
// construction; recording never allocates.
//
// Thread safety: none. What other threads read while one records is a HistogramCell (cell.hpp).

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sennit/metrics/histogram_layout.hpp"

namespace sennit::metrics {

class Histogram {
 public:
  /// Values lowest..highest, both included, were recorded `count` times.
  struct Bucket {
    std::int64_t lowest;
    std::int64_t highest;
    std::uint64_t count;
  };
  class BucketIterator;
  class BucketRange;

  /// Requires HistogramLayout::supports(options).
  explicit Histogram(HistogramOptions options = {});

  /// A value below 0 or above the highest is recorded as 0 or the highest, and counted as clamped.
  void record(std::int64_t value) { record_n(value, 1); }

  /// The same value `times` times.
  void record_n(std::int64_t value, std::uint64_t times) {
    if (!layout_.covers(value)) [[unlikely]]
      value = clamp(value, times);
    counts_[layout_.index_of(value)] += times;
    count_ += times;
    sum_ += static_cast<std::uint64_t>(value) * times;
    if (value < least_) least_ = value;
    if (value > greatest_) greatest_ = value;
  }

  /// What was recorded elsewhere, of which only the bucket is known: its bounds become least and
  /// greatest, its middle goes into the sum. Requires index < layout().bucket_count().
  void add_at(std::size_t index, std::uint64_t times);

  /// Exact, as if `other` had been recorded here. Requires equal options.
  void merge(const Histogram& other);
  /// Back to nothing recorded; keeps the memory.
  void reset();

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t clamped_count() const { return clamped_count_; }
  /// Wraps at 2^64, which is 584 years of nanoseconds.
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

  // All of these are 0 when nothing was recorded.
  [[nodiscard]] std::int64_t min() const { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::int64_t max() const { return count_ == 0 ? 0 : greatest_; }
  [[nodiscard]] double mean() const;
  /// Of the population, from the middles of the buckets.
  [[nodiscard]] double stddev() const;
  /// The value that `percent` of all recorded values do not exceed: the upper bound of its bucket,
  /// and never more than max(). percentile(50) is the median, 0 gives min(), 100 gives max().
  [[nodiscard]] std::int64_t percentile(double percent) const;

  /// How many values are at most `value`, as far as the buckets tell.
  [[nodiscard]] std::uint64_t count_up_to(std::int64_t value) const;

  /// The buckets that counted something, in ascending order:
  /// `for (const auto& bucket : histogram.buckets())`. Good until the next record.
  [[nodiscard]] BucketRange buckets() const;

  [[nodiscard]] const HistogramLayout& layout() const { return layout_; }
  [[nodiscard]] const HistogramOptions& options() const { return layout_.options(); }
  [[nodiscard]] std::uint64_t count_at(std::size_t index) const { return counts_[index]; }

 private:
  friend class HistogramCell;
  [[gnu::cold]] std::int64_t clamp(std::int64_t value, std::uint64_t times);

  HistogramLayout layout_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t clamped_count_ = 0;
  std::int64_t least_ = INT64_MAX;
  std::int64_t greatest_ = 0;
};

class Histogram::BucketIterator {
 public:
  BucketIterator(const Histogram& histogram, std::size_t index)
      : histogram_(&histogram), index_(index) {
    skip_empty();
  }
  Bucket operator*() const {
    const HistogramLayout& layout = histogram_->layout_;
    return {layout.lowest_in(index_), layout.highest_in(index_), histogram_->counts_[index_]};
  }
  BucketIterator& operator++() {
    ++index_;
    skip_empty();
    return *this;
  }
  bool operator==(const BucketIterator& other) const { return index_ == other.index_; }

 private:
  void skip_empty() {
    while (index_ < histogram_->counts_.size() && histogram_->counts_[index_] == 0) ++index_;
  }

  const Histogram* histogram_;
  std::size_t index_;
};

class Histogram::BucketRange {
 public:
  explicit BucketRange(const Histogram& histogram) : histogram_(histogram) {}
  [[nodiscard]] BucketIterator begin() const { return {histogram_, 0}; }
  [[nodiscard]] BucketIterator end() const { return {histogram_, histogram_.counts_.size()}; }

 private:
  const Histogram& histogram_;
};

inline Histogram::BucketRange Histogram::buckets() const { return BucketRange(*this); }

}  // namespace sennit::metrics
