#include "sennit/metrics/histogram_log.hpp"

#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <optional>

#include "sennit/metrics/detail/base64.hpp"
#include "sennit/metrics/histogram_encoding.hpp"

namespace sennit::metrics {
namespace {

// What stands before the next comma, which both leave `line`.
std::string_view take_field(std::string_view& line) {
  const std::size_t comma = line.find(',');
  const std::string_view field = line.substr(0, comma);
  line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  return field;
}

std::optional<double> seconds_in(std::string_view field) {
  double seconds = 0;
  const char* const end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, seconds);
  if (error != std::errc() || stop != end || !std::isfinite(seconds)) return std::nullopt;
  return seconds;
}

}  // namespace

std::string log_header(double start_s) {
  return fmt::format(
      "#[Histogram log format version 1.3]\n"
      "#[StartTime: {:.3f} (seconds since epoch)]\n"
      "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
      start_s);
}

std::string log_line(const LogInterval& interval, const Histogram& histogram, double max_divisor) {
  return fmt::format("{:.3f},{:.3f},{:.3f},{}\n", interval.start_s, interval.length_s,
                     static_cast<double>(histogram.max()) / max_divisor,
                     detail::base64_encode(encode_compressed(histogram)));
}

Result<LogEntry> parse_log_line(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("Tag=")) take_field(line);
  const std::optional<double> start_s = seconds_in(take_field(line));
  const std::optional<double> length_s = seconds_in(take_field(line));
  take_field(line);
  if (!start_s || !length_s) return failure(Errc::malformed, "read a histogram log: its times");
  const auto bytes = detail::base64_decode(line);
  if (!bytes) return failure(Errc::malformed, "read a histogram log: its base64");
  SENNIT_TRY(Histogram histogram, decode(*bytes));
  return LogEntry{{*start_s, *length_s}, std::move(histogram)};
}

bool is_log_comment(std::string_view line) {
  return line.empty() || line.starts_with('#') || line.starts_with('"') || line.starts_with('\n') ||
         line.starts_with('\r');
}

}  // namespace sennit::metrics
