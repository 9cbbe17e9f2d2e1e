#pragma once
// Where a value is counted: the log-linear buckets of HdrHistogram.
//
//   value      0 ........ S-1 | S ......... 2S-1 | 2S ........ 4S-1 | ...    S = 2 * 10^digits,
//   width          1          |        2         |        4         | ...    rounded up to 2^k
//
// The first S values have a bucket each; from there on every doubling of the value doubles the
// width of S/2 buckets. So a bucket is never wider than 10^-digits of the values in it, over the
// whole range. (A `lowest` of 2^u or more multiplies both lines by 2^u.) The layout is
// HdrHistogram's, bit for bit, which is what makes the encoded form exchangeable.
//
// Thread safety: a constant value.

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sennit::metrics {

struct HistogramOptions {
  std::int64_t lowest = 1;                   // The smallest value to be told from 0; at least 1.
  std::int64_t highest = 3'600'000'000'000;  // At least 2 * lowest. An hour of nanoseconds.
  int significant_digits = 3;                // 1 to 5: errors below 10 %, 1 %, 0.1 %, ...

  bool operator==(const HistogramOptions&) const = default;
};

class HistogramLayout {
 public:
  /// Whether a layout can be made. False for options out of the ranges above.
  [[nodiscard]] static bool supports(const HistogramOptions& options);

  /// Requires supports(options).
  explicit HistogramLayout(HistogramOptions options);

  [[nodiscard]] const HistogramOptions& options() const { return options_; }
  /// 3 digits over an hour of nanoseconds: 33'792 (264 KiB of counts). 2 digits: 4'608 (36 KiB).
  [[nodiscard]] std::size_t bucket_count() const { return bucket_count_; }

  /// Whether index_of() may be asked: 0 <= value <= options().highest.
  [[nodiscard]] bool covers(std::int64_t value) const {
    return static_cast<std::uint64_t>(value) <= static_cast<std::uint64_t>(options_.highest);
  }
  /// The nearest value that is covered.
  [[nodiscard]] std::int64_t clamp(std::int64_t value) const {
    return value < 0 ? 0 : (value > options_.highest ? options_.highest : value);
  }

  [[nodiscard]] std::size_t index_of(std::int64_t value) const {
    const auto bits = static_cast<std::uint64_t>(value);
    const int doublings = leading_zeros_of_first_ - std::countl_zero(bits | first_mask_);
    return (static_cast<std::size_t>(doublings) << half_magnitude_) +
           static_cast<std::size_t>(bits >> (doublings + unit_magnitude_));
  }

  /// The bounds of a bucket, both included.
  [[nodiscard]] std::int64_t lowest_in(std::size_t index) const;
  [[nodiscard]] std::int64_t highest_in(std::size_t index) const {
    return lowest_in(index) + (width_of(index) - 1);
  }
  /// What stands for all values of a bucket: the middle of it.
  [[nodiscard]] std::int64_t middle_of(std::size_t index) const {
    return lowest_in(index) + width_of(index) / 2;
  }

 private:
  [[nodiscard]] int doublings_at(std::size_t index) const;
  [[nodiscard]] std::int64_t width_of(std::size_t index) const;

  HistogramOptions options_;
  int unit_magnitude_;          // u: values are counted in units of 2^u.
  int half_magnitude_;          // S/2 is 2^half_magnitude_.
  int leading_zeros_of_first_;  // Of the greatest value that is counted with the width 2^u.
  std::uint64_t first_mask_;    // That value: (S - 1) * 2^u.
  std::size_t bucket_count_;
};

}  // namespace sennit::metrics
