#include "sennit/load/condition.hpp"

#include <charconv>
#include <cmath>
#include <fmt/core.h>

#include "sennit/load/units.hpp"

namespace sennit::load {
namespace {

bool parse_double(std::string_view text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() &&
         std::isfinite(number);
}

}  // namespace

bool Condition::parse_metric(std::string_view name) {
  constexpr std::string_view service = "service_";
  if (name.starts_with(service)) {
    of_service_ = true;
    name.remove_prefix(service.size());
  }
  if (name.starts_with('p') && parse_double(name.substr(1), percent_)) {
    metric_ = Metric::percentile;
    return percent_ >= 0 && percent_ <= 100;
  }
  struct Known {
    std::string_view name;
    Metric metric;
  };
  for (const auto& [known, metric] :
       {Known{"mean", Metric::mean}, Known{"max", Metric::max},
        Known{"requests_per_s", Metric::requests_per_s}, Known{"errors", Metric::errors},
        Known{"error_rate", Metric::error_rate}, Known{"unsent", Metric::unsent}}) {
    if (name == known) {
      metric_ = metric;
      return !of_service_ || is_time();
    }
  }
  return false;
}

Result<Condition> Condition::parse(std::string_view text) {
  const auto refused = [text](const char* hint) {
    return failure(Errc::invalid_argument,
                   "understand the condition '" + std::string(text) + "' (" + hint + ")");
  };
  Condition condition;
  condition.text_ = text;
  const std::size_t at = text.find_first_of("<>");
  if (at == std::string_view::npos) return refused("write it as p99<10ms or errors>0");
  const bool or_equal = at + 1 < text.size() && text[at + 1] == '=';
  const bool is_less = text[at] == '<';
  condition.relation_ = is_less ? (or_equal ? Relation::less_or_equal : Relation::less)
                                : (or_equal ? Relation::greater_or_equal : Relation::greater);
  if (!condition.parse_metric(text.substr(0, at))) {
    return refused(
        "metrics: p50 and other percentiles, mean, max, each also as service_p50 and so on; "
        "requests_per_s, errors, error_rate, unsent");
  }
  const std::string_view value = text.substr(at + (or_equal ? 2 : 1));
  if (condition.is_time()) {
    const auto time = parse_duration(value);
    if (!time) return refused("its value is a time, such as 10ms");
    condition.bound_ = static_cast<double>(time->count());
  } else if (!parse_double(value, condition.bound_)) {
    return refused("its value is a number");
  }
  return condition;
}

double Condition::value_of(const Report& report) const {
  const metrics::Histogram& histogram = of_service_ ? report.service_ns : report.latency_ns();
  const auto errors = static_cast<double>(report.errors.total());
  switch (metric_) {
    case Metric::percentile:
      return static_cast<double>(histogram.percentile(percent_));
    case Metric::mean:
      return histogram.mean();
    case Metric::max:
      return static_cast<double>(histogram.max());
    case Metric::requests_per_s:
      return report.requests_per_second();
    case Metric::errors:
      return errors;
    case Metric::error_rate: {
      // A response with an error status is among the requests already.
      const auto status_errors = static_cast<double>(report.errors[ErrorKind::status]);
      const double all = static_cast<double>(report.requests) + errors - status_errors;
      return all > 0 ? errors / all : 0;
    }
    case Metric::unsent:
      return static_cast<double>(report.unsent);
  }
  return 0;
}

bool Condition::holds(const Report& report) const {
  const double value = value_of(report);
  switch (relation_) {
    case Relation::less:
      return value < bound_;
    case Relation::less_or_equal:
      return value <= bound_;
    case Relation::greater:
      return value > bound_;
    case Relation::greater_or_equal:
      return value >= bound_;
  }
  return false;
}

std::string Condition::value_text(const Report& report) const {
  const double value = value_of(report);
  return is_time() ? format_microseconds(value / 1e3) : fmt::format("{:.6g}", value);
}

}  // namespace sennit::load
