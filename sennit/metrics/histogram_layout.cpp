#include "sennit/metrics/histogram_layout.hpp"

#include <algorithm>

#include "sennit/base/assert.hpp"

namespace sennit::metrics {
namespace {

// S = 2^magnitude, the least power of two that is at least 2 * 10^digits.
int first_magnitude_for(int significant_digits) {
  unsigned values = 2;
  for (int i = 0; i < significant_digits; ++i) values *= 10;
  return std::bit_width(values - 1);
}

int unit_magnitude_for(std::int64_t lowest) {
  return std::bit_width(static_cast<std::uint64_t>(lowest)) - 1;
}

}  // namespace

bool HistogramLayout::supports(const HistogramOptions& options) {
  if (options.significant_digits < 1 || options.significant_digits > 5) return false;
  if (options.lowest < 1 || options.lowest > INT64_MAX / 2) return false;
  if (options.highest < 2 * options.lowest) return false;
  return unit_magnitude_for(options.lowest) + first_magnitude_for(options.significant_digits) <= 62;
}

HistogramLayout::HistogramLayout(HistogramOptions options) : options_(options) {
  SENNIT_ASSERT(supports(options), options.lowest, options.highest, options.significant_digits);
  const int first_magnitude = first_magnitude_for(options.significant_digits);
  unit_magnitude_ = unit_magnitude_for(options.lowest);
  half_magnitude_ = first_magnitude - 1;
  first_mask_ = ((std::uint64_t{1} << first_magnitude) - 1) << unit_magnitude_;
  leading_zeros_of_first_ = std::countl_zero(first_mask_);
  const int doublings = leading_zeros_of_first_ -
                        std::countl_zero(static_cast<std::uint64_t>(options.highest) | first_mask_);
  bucket_count_ = static_cast<std::size_t>(doublings + 2) << half_magnitude_;
}

// Doublings after the first S buckets; those and the S/2 buckets that follow share the arithmetic.
int HistogramLayout::doublings_at(std::size_t index) const {
  return std::max(static_cast<int>(index >> half_magnitude_) - 1, 0);
}

std::int64_t HistogramLayout::width_of(std::size_t index) const {
  return std::int64_t{1} << (doublings_at(index) + unit_magnitude_);
}

std::int64_t HistogramLayout::lowest_in(std::size_t index) const {
  const int doublings = doublings_at(index);
  const std::size_t in_units = index - (static_cast<std::size_t>(doublings) << half_magnitude_);
  return static_cast<std::int64_t>(in_units) << (doublings + unit_magnitude_);
}

}  // namespace sennit::metrics
