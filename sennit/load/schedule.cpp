#include "sennit/load/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "sennit/base/assert.hpp"
#include "sennit/load/units.hpp"

namespace sennit::load {
namespace {

double to_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Result<double> parse_rate(std::string_view text) {
  SENNIT_TRY(const std::uint32_t rate, parse_count(text));
  return static_cast<double>(rate);
}

}  // namespace

Schedule::Schedule(std::vector<Segment> segments) {
  SENNIT_ASSERT(!segments.empty());
  double begin = 0, index = 0;
  for (const Segment& segment : segments) {
    SENNIT_ASSERT(segment.length > Duration::zero() && segment.from >= 0 && segment.to >= 0);
    SENNIT_ASSERT(segment.from <= rate_max && segment.to <= rate_max);
    parts_.push_back({begin, to_seconds(segment.length), segment.from, segment.to, index});
    index += count_in(parts_.back(), parts_.back().length_s);
    begin += parts_.back().length_s;
  }
  const double last = segments.back().to;
  SENNIT_ASSERT(last > 0 && "the last rate goes on, and would never send anything");
  parts_.push_back({begin, std::numeric_limits<double>::infinity(), last, last, index});
}

Schedule Schedule::constant(double rate) { return Schedule({{std::chrono::hours(1), rate, rate}}); }

double Schedule::count_in(const Part& part, double seconds) const {
  if (part.from == part.to) return part.from * seconds;
  return part.from * seconds + (part.to - part.from) * seconds * seconds / (2 * part.length_s);
}

Duration Schedule::time_of(std::uint64_t index) const {
  const auto wanted = static_cast<double>(index);
  const auto after = std::ranges::upper_bound(parts_, wanted, {}, &Part::index_begin);
  const Part& part = *std::prev(after);  // The last that begins at or before it.
  const double left = wanted - part.index_begin;
  double seconds = 0;
  if (part.from == part.to) {
    seconds = part.from > 0 ? left / part.from : part.length_s;
  } else {
    // a/2 t^2 + from t = left, by the form of the root that loses no digits for small a.
    const double a = (part.to - part.from) / part.length_s;
    const double root = std::sqrt(std::max(part.from * part.from + 2 * a * left, 0.0));
    seconds = left == 0 ? 0 : 2 * left / (part.from + root);
  }
  const double ns = (part.begin_s + std::min(seconds, part.length_s)) * 1e9;
  constexpr double ns_max = 9e18;
  return Duration(static_cast<std::int64_t>(std::min(ns, ns_max)));
}

double Schedule::rate_at(Duration time) const {
  const double seconds = std::max(to_seconds(time), 0.0);
  const auto after = std::ranges::upper_bound(parts_, seconds, {}, &Part::begin_s);
  const Part& part = *std::prev(after);
  if (part.from == part.to) return part.from;
  return part.from + (part.to - part.from) * (seconds - part.begin_s) / part.length_s;
}

double Schedule::mean_rate(Duration time) const {
  const double seconds = to_seconds(time);
  if (seconds <= 0) return parts_.front().from;
  const auto after = std::ranges::upper_bound(parts_, seconds, {}, &Part::begin_s);
  const Part& part = *std::prev(after);
  return (part.index_begin + count_in(part, seconds - part.begin_s)) / seconds;
}

Result<std::vector<Schedule::Segment>> parse_segments(std::string_view text) {
  std::vector<Schedule::Segment> segments;
  std::string_view left = text;
  for (bool more = true; more;) {
    const std::size_t comma = left.find(',');
    const std::string_view part = left.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) left.remove_prefix(comma + 1);
    const std::size_t colon = part.rfind(':');
    const std::size_t dots = part.find("..");
    if (colon == std::string_view::npos || (dots != std::string_view::npos && dots > colon)) {
      return failure(Errc::invalid_argument,
                     "understand '" + std::string(part) +
                         "' (write RATE:TIME for a plateau, FROM..TO:TIME for a ramp)");
    }
    const std::string_view rates = part.substr(0, colon);
    SENNIT_TRY(const double from, parse_rate(rates.substr(0, dots)));
    double to = from;
    if (dots != std::string_view::npos) {
      SENNIT_TRY(const double end, parse_rate(rates.substr(dots + 2)));
      to = end;
    }
    SENNIT_TRY(const Duration length, parse_duration(part.substr(colon + 1)));
    if (std::max(from, to) > Schedule::rate_max) {
      return failure(Errc::invalid_argument, "send more than 100M requests a second");
    }
    segments.push_back({length, from, to});
  }
  return segments;
}

}  // namespace sennit::load
