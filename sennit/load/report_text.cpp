#include "sennit/load/report_text.hpp"

#include <cctype>
#include <cmath>
#include <fmt/core.h>

#include "sennit/load/units.hpp"

namespace sennit::load {
namespace {

using metrics::Histogram;

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

std::string time_of(const Histogram& histogram, double percent) {
  return format_microseconds(microseconds(histogram.percentile(percent)));
}

/// wrk's four lines.
void add_distribution(std::string& text, const Histogram& histogram) {
  text += "  Latency Distribution\n";
  for (const int percent : {50, 75, 90, 99}) {
    text += fmt::format("{:>7}%{}\n", percent, aligned(time_of(histogram, percent), 10));
  }
}

void add_errors(std::string& text, const ErrorCounts& errors) {
  const std::uint64_t status_errors = errors[ErrorKind::status];
  if (errors.total() > status_errors) {
    text += fmt::format("  Socket errors: connect {}, read {}, write {}, timeout {}\n",
                        errors[ErrorKind::connect], errors[ErrorKind::read],
                        errors[ErrorKind::write], errors[ErrorKind::timeout]);
  }
  if (status_errors > 0) text += fmt::format("  Non-2xx or 3xx responses: {}\n", status_errors);
}

/// Both times beside each other, with how late we were.
void add_open_loop(std::string& text, const Report& report) {
  text += fmt::format("\nOpen loop: {:.0f} requests/s asked for, {:.0f} answered", report.rate,
                      report.requests_per_second());
  if (report.unsent > 0) text += fmt::format(", {} due and never sent", report.unsent);
  text += fmt::format("\n{:>10}{:>16}{:>16}{:>14}\n", "", "response time", "service time",
                      "schedule lag");
  for (const double percent : {50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const std::string label = percent == 100 ? "max" : fmt::format("{}%", percent);
    text += fmt::format("{:>10}{:>16}{:>16}{:>14}\n", label, time_of(report.response_ns, percent),
                        time_of(report.service_ns, percent), time_of(report.lag_ns, percent));
  }
  text +=
      "  (response time counts from when a request was due, service time from when it was sent)\n";
}

void add_beside(std::string& text, const Report& report) {
  for (const Report& other : report.beside) {
    text += fmt::format("\nBeside it: {} with {} connections\n", other.url, other.connections);
    text +=
        fmt::format("  {} requests, {:.2f} requests/s, 50% {}, 99% {}, max {}\n", other.requests,
                    other.requests_per_second(), time_of(other.latency_ns(), 50),
                    time_of(other.latency_ns(), 99), time_of(other.latency_ns(), 100));
    add_errors(text, other.errors);
  }
}

}  // namespace

std::string heading_text(std::string_view url, Duration duration, unsigned workers,
                         std::uint32_t connections) {
  const bool is_whole = duration % std::chrono::seconds(1) == Duration::zero();
  return fmt::format(
      "Running {} test @ {}\n  {} threads and {} connections\n",
      is_whole ? format_seconds(seconds(duration)) : format_microseconds(seconds(duration) * 1e6),
      url, workers, connections);
}

std::string to_text(const Report& report, bool with_distribution) {
  std::string text =
      fmt::format("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
  add_statistics(text, "Latency", report.latency_ns(), 1e-3, format_microseconds);
  add_statistics(text, "Req/Sec", report.rates, 1, format_metric);
  if (with_distribution) add_distribution(text, report.latency_ns());
  text += fmt::format("  {} requests in {}, {}B read\n", report.requests,
                      format_microseconds(seconds(report.duration) * 1e6),
                      format_binary(static_cast<double>(report.bytes_read)));
  add_errors(text, report.errors);
  text += fmt::format("Requests/sec: {:9.2f}\nTransfer/sec: {:>10}B\n",
                      report.requests_per_second(), format_binary(report.bytes_per_second()));
  if (report.is_open_loop()) add_open_loop(text, report);
  add_beside(text, report);
  for (const std::string& reason : report.void_reasons) {
    text += fmt::format("\nVOID: {}\n", reason);
  }
  return text;
}

}  // namespace sennit::load
