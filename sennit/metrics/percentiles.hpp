#pragma once
// Percentiles from maxima: one comparison per sample instead of a histogram's bucket.
//
// The greatest of n samples lies near a percentile of all of them: for the exponential distribution
// its mean is exactly the p-quantile when the harmonic number H(n) is -ln(1 - p). So take groups of
// n samples, n the least with H(n) >= -ln(1 - p) (56 for p99, 561 for p99.9), and keep each group's
// maximum only.
//
//   MeanOfMaxima      the mean of the maxima. Three words of state. Biased by the tail's shape.
//   QuantileOfMaxima  the maximum of n samples is below the p-quantile with probability p^n, so the
//                     p^n-quantile of the maxima is the p-quantile itself, whatever the shape.
//                     Keeps a Histogram of the maxima, written once per group.
//
// Errors at p99 against the exact value of the same 1,000,000 samples, as the median of 40 seeds
// and the least and greatest of them (percentiles_test.cpp holds one seed to these):
//
//                         MeanOfMaxima                  QuantileOfMaxima
//   exponential           +0.1 %   -0.2 ..   +0.4       0.0 %   -0.2 .. +0.3
//   normal, sd 10 %       -0.3 %   -0.3 ..   -0.2       0.0 %    0.0 .. +0.1
//   uniform               -0.8 %   -0.8 ..   -0.7       0.0 %    0.0 .. +0.1
//   bimodal, 5 % tenfold  -5.1 %   -5.4 ..   -4.8       0.0 %    0.0 .. +0.1
//   lognormal, sigma 1    +8.7 %   +8.1 ..   +9.7      +0.1 %   -0.3 .. +0.4
//   Pareto, alpha 1.5      +77 %    +67 ..   +125       0.0 %   -0.7 .. +0.8
//
// A record costs about 1 ns, a histogram's about 3 (percentiles_perf.cpp). Use
// MeanOfMaxima for a cheap number to watch, a Histogram where the number is a promise.
//
// Before one group is complete the answer is none. Merging adds completed groups and leaves open
// ones out: an open group's maximum says nothing yet. Thread safety: none.

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sennit/metrics/histogram.hpp"

namespace sennit::metrics {

/// Samples per group: the least n whose harmonic number reaches -ln(1 - p). At least 1.
/// Requires 0 < p <= 0.99999 (56,146 samples).
[[nodiscard]] std::uint32_t group_size_for(double p);

/// Estimates the p-quantile as the mean of maxima.
class MeanOfMaxima {
 public:
  /// Requires 0 < p <= 0.99999.
  explicit MeanOfMaxima(double p);

  void record(std::int64_t value) {
    greatest_ = std::max(greatest_, value);  // No branch: a fresh group's maximum changes often.
    if (static_cast<std::uint32_t>(++progress_) == 0) [[unlikely]]
      complete_group();
  }

  /// None before the first group is complete.
  [[nodiscard]] std::optional<double> value() const;

  /// Adds the completed groups of another estimator. Requires the same p.
  void merge(const MeanOfMaxima& other);
  /// The same for what came over a network: `groups` groups whose maxima add up to `sum`.
  void add_groups(std::uint64_t groups, double sum);

  [[nodiscard]] std::uint32_t group_size() const { return group_size_; }
  [[nodiscard]] std::uint64_t completed_groups() const { return progress_ >> 32; }
  [[nodiscard]] double sum_of_maxima() const { return sum_; }

 private:
  void complete_group();

  std::uint32_t group_size_;
  // The upper half counts completed groups. The lower half runs from 2^32 - group_size_ to 2^32, so
  // that completing a group carries into the upper half.
  std::uint64_t progress_;
  std::int64_t greatest_ = INT64_MIN;  // Of the open group.
  double sum_ = 0;                     // Of the maxima of the completed groups.
};

/// Estimates the p-quantile as the p^n-quantile of the maxima.
class QuantileOfMaxima {
 public:
  /// Requires 0 < p <= 0.99999 and HistogramLayout::supports(options).
  explicit QuantileOfMaxima(double p, HistogramOptions options = {});

  void record(std::int64_t value) {
    greatest_ = std::max(greatest_, value);
    if (++in_group_ == group_size_) [[unlikely]]
      complete_group();
  }

  /// None before the first group is complete; steady after some ten groups.
  [[nodiscard]] std::optional<std::int64_t> value() const;

  /// Adds the completed groups of another estimator. Requires the same p and options.
  void merge(const QuantileOfMaxima& other);

  [[nodiscard]] std::uint32_t group_size() const { return group_size_; }
  [[nodiscard]] std::uint64_t completed_groups() const { return maxima_.count(); }

 private:
  void complete_group();

  std::uint32_t group_size_;
  std::uint32_t in_group_ = 0;
  std::int64_t greatest_ = INT64_MIN;
  double percent_;  // 100 * p^n.
  Histogram maxima_;
};

}  // namespace sennit::metrics
