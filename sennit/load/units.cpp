#include "sennit/load/units.hpp"

#include <charconv>
#include <fmt/core.h>
#include <initializer_list>
#include <span>

namespace sennit::load {
namespace {

struct Unit {
  std::string_view name;
  double scale;
};

/// A number not below 0 and what follows it; false if there is none.
bool split(std::string_view text, double& number, std::string_view& suffix) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  suffix = {rest, static_cast<std::size_t>(end - rest)};
  return error == std::errc() && number >= 0;
}

/// The number in base units, or a negative one if the text is not a number and one of the units.
double parse_scaled(std::string_view text, std::initializer_list<Unit> units) {
  double number = 0;
  std::string_view suffix;
  if (!split(text, number, suffix)) return -1;
  for (const Unit& unit : units) {
    if (suffix == unit.name) return number * unit.scale;
  }
  return -1;
}

std::string format_scaled(double value, std::string_view base, double step,
                          std::span<const std::string_view> units, int decimals) {
  std::string_view unit = base;
  for (const std::string_view larger : units) {
    if (value < step * 0.85) break;
    value /= step;
    unit = larger;
  }
  return fmt::format("{:.{}f}{}", value, decimals, unit);
}

}  // namespace

Result<std::uint32_t> parse_count(std::string_view text) {
  constexpr double count_max = 1U << 31;
  const double count =
      parse_scaled(text, {{"", 1}, {"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}});
  const auto whole = static_cast<std::uint32_t>(count >= 1 && count <= count_max ? count : 0);
  if (whole == 0 || whole != count) {
    return failure(Errc::invalid_argument,
                   "understand '" + std::string(text) +
                       "' (a whole number above 0 is expected, such as 100 or 1k)");
  }
  return whole;
}

Result<Duration> parse_duration(std::string_view text) {
  constexpr double least_ns = 1e3, most_ns = 3.6e15;
  const double ns = parse_scaled(
      text, {{"s", 1e9}, {"", 1e9}, {"us", 1e3}, {"ms", 1e6}, {"m", 6e10}, {"h", 3.6e12}});
  if (!(ns >= least_ns && ns <= most_ns)) {
    return failure(Errc::invalid_argument,
                   "understand the duration '" + std::string(text) +
                       "' (a number above 0 and ms, s, m or h are expected, such as 30s)");
  }
  return Duration(static_cast<std::int64_t>(ns));
}

std::string format_microseconds(double microseconds) {
  static constexpr std::string_view below_a_second[] = {"ms"}, above[] = {"m"};
  if (microseconds < 1e6) return format_scaled(microseconds, "us", 1000, below_a_second, 2);
  return format_scaled(microseconds / 1e6, "s", 60, above, 2);
}

std::string format_seconds(double seconds) {
  static constexpr std::string_view units[] = {"m"};
  return format_scaled(seconds, "s", 60, units, 0);
}

std::string format_metric(double value) {
  static constexpr std::string_view units[] = {"k", "M", "G", "T"};
  return format_scaled(value, "", 1000, units, 2);
}

std::string format_binary(double bytes) {
  static constexpr std::string_view units[] = {"K", "M", "G", "T"};
  return format_scaled(bytes, "", 1024, units, 2);
}

}  // namespace sennit::load
