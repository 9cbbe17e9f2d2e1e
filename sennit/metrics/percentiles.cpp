#include "sennit/metrics/percentiles.hpp"

#include <cmath>

#include "sennit/base/assert.hpp"

namespace sennit::metrics {
namespace {

// The lower half of MeanOfMaxima::progress_ at the start of a group.
std::uint64_t group_start(std::uint32_t group_size) { return 0U - group_size; }

}  // namespace

std::uint32_t group_size_for(double p) {
  SENNIT_ASSERT(p > 0 && p <= 0.99999, p);
  const double target = -std::log1p(-p);
  double harmonic = 1;
  std::uint32_t size = 1;
  while (harmonic < target) harmonic += 1.0 / ++size;
  return size;
}

MeanOfMaxima::MeanOfMaxima(double p)
    : group_size_(group_size_for(p)), progress_(group_start(group_size_)) {}

void MeanOfMaxima::complete_group() {
  sum_ += static_cast<double>(greatest_);
  greatest_ = INT64_MIN;
  progress_ += group_start(group_size_);
}

std::optional<double> MeanOfMaxima::value() const {
  if (completed_groups() == 0) return std::nullopt;
  return sum_ / static_cast<double>(completed_groups());
}

void MeanOfMaxima::merge(const MeanOfMaxima& other) {
  SENNIT_ASSERT(group_size_ == other.group_size_, group_size_, other.group_size_);
  add_groups(other.completed_groups(), other.sum_);
}

void MeanOfMaxima::add_groups(std::uint64_t groups, double sum) {
  progress_ += groups << 32;
  sum_ += sum;
}

QuantileOfMaxima::QuantileOfMaxima(double p, HistogramOptions options)
    : group_size_(group_size_for(p)), percent_(100 * std::pow(p, group_size_)), maxima_(options) {}

void QuantileOfMaxima::complete_group() {
  maxima_.record(greatest_);
  greatest_ = INT64_MIN;
  in_group_ = 0;
}

std::optional<std::int64_t> QuantileOfMaxima::value() const {
  if (completed_groups() == 0) return std::nullopt;
  return maxima_.percentile(percent_);
}

void QuantileOfMaxima::merge(const QuantileOfMaxima& other) {
  SENNIT_ASSERT(group_size_ == other.group_size_, group_size_, other.group_size_);
  maxima_.merge(other.maxima_);
}

}  // namespace sennit::metrics
