#include "sennit/metrics/histogram.hpp"

#include <algorithm>
#include <cmath>

#include "sennit/base/assert.hpp"

namespace sennit::metrics {

Histogram::Histogram(HistogramOptions options)
    : layout_(options), counts_(layout_.bucket_count()) {}

std::int64_t Histogram::clamp(std::int64_t value, std::uint64_t times) {
  clamped_count_ += times;
  return layout_.clamp(value);
}

void Histogram::add_at(std::size_t index, std::uint64_t times) {
  SENNIT_ASSERT(index < counts_.size(), index, counts_.size());
  if (times == 0) return;
  counts_[index] += times;
  count_ += times;
  sum_ += static_cast<std::uint64_t>(layout_.middle_of(index)) * times;
  least_ = std::min(least_, layout_.lowest_in(index));
  greatest_ = std::max(greatest_, layout_.clamp(layout_.highest_in(index)));
}

void Histogram::merge(const Histogram& other) {
  SENNIT_ASSERT(options() == other.options(), options().lowest, other.options().lowest,
                options().highest, other.options().highest, options().significant_digits,
                other.options().significant_digits);
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  clamped_count_ += other.clamped_count_;
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

void Histogram::reset() {
  std::ranges::fill(counts_, 0);
  count_ = sum_ = clamped_count_ = 0;
  least_ = INT64_MAX;
  greatest_ = 0;
}

double Histogram::mean() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

double Histogram::stddev() const {
  if (count_ == 0) return 0;
  const double center = mean();
  double squares = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const double distance = static_cast<double>(layout_.middle_of(i)) - center;
    squares += distance * distance * static_cast<double>(counts_[i]);
  }
  return std::sqrt(squares / static_cast<double>(count_));
}

std::int64_t Histogram::percentile(double percent) const {
  if (count_ == 0) return 0;
  if (!(percent > 0)) return min();
  // One step down first: 99.9 % of 1,000 must be the 999th value, though 99.9 has no exact double.
  const double share = std::nextafter(std::min(percent, 100.0), 0.0) / 100;
  const auto rank = std::max(
      static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_))), std::uint64_t{1});
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::min(layout_.highest_in(i), greatest_);
  }
  return greatest_;
}

std::uint64_t Histogram::count_up_to(std::int64_t value) const {
  if (value < 0) return 0;
  const std::size_t last = layout_.index_of(layout_.clamp(value));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i <= last; ++i) sum += counts_[i];
  return sum;
}

}  // namespace sennit::metrics
