#include "sennit/load/report.hpp"

#include <cctype>
#include <cmath>
#include <fmt/core.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sennit/load/units.hpp"

namespace sennit::load {
namespace {

using metrics::Histogram;

struct Percentile {
  const char* label;
  double percent;
};
constexpr Percentile percentiles[] = {{"50%", 50}, {"75%", 75},     {"90%", 90},
                                      {"99%", 99}, {"99.9%", 99.9}, {"max", 100}};

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// Right-aligned by its number: units of one and two letters, and none, end in the same column.
std::string aligned(const std::string& text, std::size_t width) {
  std::size_t padding = 2;
  for (std::size_t i = 1; i <= 2 && i <= text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[text.size() - i])) != 0) --padding;
  }
  return fmt::format("{:>{}}{:{}}", text, width - padding, "", padding);
}

/// How much of what was recorded lies within one standard deviation of the mean, in percent.
double within_deviation(const Histogram& histogram) {
  if (histogram.count() == 0) return 0;
  const double mean = histogram.mean(), deviation = histogram.stddev();
  const auto low = static_cast<std::int64_t>(std::ceil(mean - deviation));
  const auto high = static_cast<std::int64_t>(std::floor(mean + deviation));
  const std::uint64_t below = low <= 0 ? 0 : histogram.count_up_to(low - 1);
  const std::uint64_t within = histogram.count_up_to(high) - below;
  return 100.0 * static_cast<double>(within) / static_cast<double>(histogram.count());
}

void add_statistics(std::string& text, const char* name, const Histogram& histogram, double scale,
                    std::string (*format)(double)) {
  text +=
      fmt::format("    {:<10}{}{}{}{:8.2f}%\n", name, aligned(format(histogram.mean() * scale), 8),
                  aligned(format(histogram.stddev() * scale), 10),
                  aligned(format(static_cast<double>(histogram.max()) * scale), 9),
                  within_deviation(histogram));
}

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

}  // namespace

std::string_view to_string(ErrorKind kind) {
  constexpr std::string_view names[error_kind_count] = {"connect", "read", "write", "timeout",
                                                        "status"};
  return names[static_cast<std::size_t>(kind)];
}

std::uint64_t ErrorCounts::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Report::requests_per_second() const {
  return duration <= Duration::zero() ? 0 : static_cast<double>(requests) / seconds(duration);
}

double Report::bytes_per_second() const {
  return duration <= Duration::zero() ? 0 : static_cast<double>(bytes_read) / seconds(duration);
}

std::string heading_text(std::string_view url, Duration duration, unsigned workers,
                         std::uint32_t connections) {
  const bool is_whole = duration % std::chrono::seconds(1) == Duration::zero();
  return fmt::format(
      "Running {} test @ {}\n  {} threads and {} connections\n",
      is_whole ? format_seconds(seconds(duration)) : format_microseconds(seconds(duration) * 1e6),
      url, workers, connections);
}

std::string to_text(const Report& report) {
  std::string text =
      fmt::format("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
  add_statistics(text, "Latency", report.latency_ns, 1e-3, format_microseconds);
  add_statistics(text, "Req/Sec", report.rates, 1, format_metric);
  text += "  Latency Distribution\n";
  for (const auto& [label, percent] : percentiles) {
    const double value = microseconds(report.latency_ns.percentile(percent));
    text += fmt::format("{:>8}{}\n", label, aligned(format_microseconds(value), 10));
  }
  text += fmt::format("  {} requests in {}, {}B read\n", report.requests,
                      format_microseconds(seconds(report.duration) * 1e6),
                      format_binary(static_cast<double>(report.bytes_read)));
  const ErrorCounts& errors = report.errors;
  const std::uint64_t status_errors = errors[ErrorKind::status];
  if (errors.total() > status_errors) {
    text += fmt::format("  Socket errors: connect {}, read {}, write {}, timeout {}\n",
                        errors[ErrorKind::connect], errors[ErrorKind::read],
                        errors[ErrorKind::write], errors[ErrorKind::timeout]);
  }
  if (status_errors > 0) text += fmt::format("  Non-2xx or 3xx responses: {}\n", status_errors);
  text += fmt::format("Requests/sec: {:9.2f}\nTransfer/sec: {:>10}B\n",
                      report.requests_per_second(), format_binary(report.bytes_per_second()));
  return text;
}

std::string to_json(const Report& report) {
  nlohmann::ordered_json latency;
  for (const auto& [label, percent] : percentiles) {
    const std::string digits(label, std::char_traits<char>::length(label) - 1);
    const std::string key = percent == 100 ? "max" : "p" + digits;
    latency[key] = microseconds(report.latency_ns.percentile(percent));
  }
  latency["mean"] = report.latency_ns.mean() / 1e3;
  latency["stdev"] = report.latency_ns.stddev() / 1e3;
  nlohmann::ordered_json errors;
  for (std::size_t i = 0; i < error_kind_count; ++i) {
    const auto kind = static_cast<ErrorKind>(i);
    errors[std::string(to_string(kind))] = report.errors[kind];
  }
  const nlohmann::ordered_json object = {
      {"url", report.url},
      {"backend", report.backend},
      {"connections", report.connections},
      {"threads", report.workers},
      {"duration_s", seconds(report.duration)},
      {"requests", report.requests},
      {"requests_per_s", report.requests_per_second()},
      {"bytes_read", report.bytes_read},
      {"bytes_per_s", report.bytes_per_second()},
      {"latency_us", latency},
      {"errors", errors},
      {"first_error", report.first_error},
  };
  constexpr int indent = 2;
  return object.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace sennit::load
