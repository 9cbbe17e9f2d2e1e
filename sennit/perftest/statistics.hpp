#pragma once
// What can be said about times that were measured on a noisy machine.
//
// Times are not normally distributed: most are near the least possible, some are far above. So
// everything here goes by order only (medians, ranks) and assumes nothing else about the shape.
//
// Thread safety: pure functions.

#include <optional>
#include <span>
#include <vector>

namespace sennit::perftest {

/// Requires at least one sample.
[[nodiscard]] double median(std::vector<double> samples);

struct Interval {
  double low;
  double high;
};

/// Where the median of the population lies, with at least this confidence (0.99 for 99 %): between
/// two of the samples, by the binomial distribution of ranks. None when there are too few samples.
[[nodiscard]] std::optional<Interval> median_interval(std::vector<double> samples,
                                                      double confidence);

/// How much greater `after` is than `before`, as a ratio: the median of all pairwise ratios
/// (Hodges-Lehmann), and the interval that the Mann-Whitney distribution of ranks gives it.
struct RatioEstimate {
  double ratio;
  std::optional<Interval> interval;  // None when there are too few samples for the confidence.
};
/// Requires at least one sample on each side, all greater than 0, and at most 100 on each.
[[nodiscard]] RatioEstimate ratio_of(std::span<const double> before, std::span<const double> after,
                                     double confidence);

}  // namespace sennit::perftest
