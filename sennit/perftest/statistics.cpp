#include "sennit/perftest/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sennit/base/assert.hpp"

namespace sennit::perftest {
namespace {

double median_of_sorted(std::span<const double> sorted) {
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// How many of the ordered values to leave out at each end, given how likely it is that the true one
// lies below exactly i of them: as many as keep both ends together below 1 - confidence. None when
// even leaving out nothing exceeds it.
std::optional<std::size_t> values_to_leave_out(std::span<const double> likelihoods,
                                               double confidence) {
  double below = 0;
  std::size_t left_out = 0;
  while (left_out < likelihoods.size() / 2) {
    below += likelihoods[left_out];
    if (2 * below > 1 - confidence) break;
    ++left_out;
  }
  if (left_out == 0) return std::nullopt;
  return left_out - 1;
}

// P(i of n fair coins fall heads) for i = 0..n.
std::vector<double> binomial(std::size_t n) {
  std::vector<double> likelihoods(n + 1);
  const auto count = static_cast<double>(n);
  for (std::size_t i = 0; i <= n; ++i) {
    const auto heads = static_cast<double>(i);
    likelihoods[i] = std::exp(std::lgamma(count + 1) - std::lgamma(heads + 1) -
                              std::lgamma(count - heads + 1) - count * std::log(2.0));
  }
  return likelihoods;
}

// P(U = u) of the Mann-Whitney statistic for u = 0..n*m: of all arrangements of n and m samples,
// those where u pairs are in the second order. counts[i][u] is built up by which sample is
// greatest.
std::vector<double> mann_whitney(std::size_t n, std::size_t m) {
  const std::size_t size = n * m + 1;
  std::vector<std::vector<double>> counts(n + 1, std::vector<double>(size));
  for (auto& row : counts) row[0] = 1;  // With none on the other side.
  for (std::size_t j = 1; j <= m; ++j) {
    for (std::size_t i = 1; i <= n; ++i) {
      // P(i, j) = j / (i + j) * P(i, j - 1) + i / (i + j) * P(i - 1, j) shifted by j.
      const double weight_j = static_cast<double>(j) / static_cast<double>(i + j);
      for (std::size_t u = size; u-- > 0;) {
        const double shifted = u >= j ? counts[i - 1][u - j] : 0;
        counts[i][u] = weight_j * counts[i][u] + (1 - weight_j) * shifted;
      }
    }
  }
  return counts[n];
}

std::optional<Interval> interval_of_sorted(std::span<const double> sorted,
                                           std::span<const double> likelihoods, double confidence) {
  const auto left_out = values_to_leave_out(likelihoods, confidence);
  if (!left_out) return std::nullopt;
  return Interval{sorted[*left_out], sorted[sorted.size() - 1 - *left_out]};
}

}  // namespace

double median(std::vector<double> samples) {
  SENNIT_ASSERT(!samples.empty());
  std::ranges::sort(samples);
  return median_of_sorted(samples);
}

std::optional<Interval> median_interval(std::vector<double> samples, double confidence) {
  std::ranges::sort(samples);
  return interval_of_sorted(samples, binomial(samples.size()), confidence);
}

RatioEstimate ratio_of(std::span<const double> before, std::span<const double> after,
                       double confidence) {
  SENNIT_ASSERT(!before.empty() && !after.empty(), before.size(), after.size());
  SENNIT_ASSERT(before.size() <= 100 && after.size() <= 100, before.size(), after.size());
  std::vector<double> ratios;
  ratios.reserve(before.size() * after.size());
  for (const double old_time : before) {
    for (const double new_time : after) ratios.push_back(new_time / old_time);
  }
  std::ranges::sort(ratios);
  return {median_of_sorted(ratios),
          interval_of_sorted(ratios, mann_whitney(before.size(), after.size()), confidence)};
}

}  // namespace sennit::perftest
