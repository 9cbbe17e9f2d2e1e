#pragma once
// Condition: what a run must hold, or must not: "p99<10ms", "errors>0", "requests_per_s<1000".
//
// Thread safety: values.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/load/report.hpp"

namespace sennit::load {

class Condition {
 public:
  /// METRIC, one of < <= > >=, and a value. Metrics: p50, p99.9 and every other percentile, mean
  /// and max, which are response times in an open loop and service times in a closed one and take a
  /// time; service_p99 and the like for service times; requests_per_s, errors, error_rate (a part
  /// of all, 0 to 1) and unsent, which take a number.
  ///
  /// Errors: invalid_argument, which says what would have been understood.
  [[nodiscard]] static Result<Condition> parse(std::string_view text);

  [[nodiscard]] bool holds(const Report& report) const;
  /// The metric's value in its own words: "12.30ms".
  [[nodiscard]] std::string value_text(const Report& report) const;
  /// As it was given.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  enum class Metric : std::uint8_t {
    percentile,
    mean,
    max,
    requests_per_s,
    errors,
    error_rate,
    unsent
  };
  enum class Relation : std::uint8_t { less, less_or_equal, greater, greater_or_equal };

  Condition() = default;
  [[nodiscard]] bool is_time() const { return metric_ <= Metric::max; }
  [[nodiscard]] double value_of(const Report& report) const;
  [[nodiscard]] bool parse_metric(std::string_view name);

  std::string text_;
  Metric metric_ = Metric::max;
  Relation relation_ = Relation::less;
  double percent_ = 0;
  bool of_service_ = false;
  double bound_ = 0;  // Nanoseconds or a number.
};

}  // namespace sennit::load
