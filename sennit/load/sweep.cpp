#include "sennit/load/sweep.hpp"

#include <algorithm>
#include <charconv>

namespace sennit::load {
namespace {

bool parse_value(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() &&
         value <= std::uint64_t{1} << 31;
}

/// "LOW..HIGHxFACTOR" or "LOW..HIGH+STEP".
bool parse_range(std::string_view text, std::size_t dots, std::vector<std::uint64_t>& values) {
  const std::size_t by = text.find_first_of("x+", dots);
  std::uint64_t low = 0, high = 0, step = 0;
  if (by == std::string_view::npos || !parse_value(text.substr(0, dots), low) ||
      !parse_value(text.substr(dots + 2, by - dots - 2), high) ||
      !parse_value(text.substr(by + 1), step)) {
    return false;
  }
  const bool multiplies = text[by] == 'x';
  if (low > high || step < (multiplies ? 2 : 1) || (multiplies && low == 0)) return false;
  for (std::uint64_t value = low; value <= high; value = multiplies ? value * step : value + step) {
    if (values.size() == axis_values_max) return false;
    values.push_back(value);
  }
  return true;
}

bool parse_list(std::string_view text, std::vector<std::uint64_t>& values) {
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    std::uint64_t value = 0;
    if (!parse_value(text.substr(0, comma), value) || values.size() == axis_values_max) {
      return false;
    }
    values.push_back(value);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return true;
}

std::string placeholder(const std::string& name) { return "{" + name + "}"; }

/// Whether it is one of the run's own options, which is then set.
bool set_option(Options& options, const std::string& name, std::uint64_t value) {
  if (name == "connections") {
    options.connections = static_cast<std::uint32_t>(value);
    options.workers = std::min(options.workers, options.connections);
  } else if (name == "threads") {
    options.workers = static_cast<unsigned>(value);
  } else if (name == "pipeline") {
    options.pipeline = static_cast<std::uint32_t>(value);
  } else if (name == "rate") {
    const auto rate = static_cast<double>(value);
    options.rate = {{options.duration + options.warm_up, rate, rate}};
  } else if (name == "body") {
    options.body.assign(value, 'x');
    if (options.method == "GET") options.method = "POST";
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<Axis> parse_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  Axis axis;
  if (equals != std::string_view::npos && equals > 0) {
    axis.name = text.substr(0, equals);
    const std::string_view values = text.substr(equals + 1);
    const std::size_t dots = values.find("..");
    const bool is_understood = dots == std::string_view::npos
                                   ? parse_list(values, axis.values)
                                   : parse_range(values, dots, axis.values);
    if (is_understood) return axis;
  }
  return failure(Errc::invalid_argument,
                 "understand the axis '" + std::string(text) +
                     "' (write connections=1..2048x2, body=100..500+100 or rate=10,20; at most "
                     "1000 values up to 2^31)");
}

Result<std::vector<SweepPoint>> sweep_points(const std::vector<Axis>& axes) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[i].name == axes[j].name) {
        return failure(Errc::invalid_argument, "sweep over '" + axes[i].name + "' twice");
      }
    }
    count *= axes[i].values.size();
    if (count > sweep_runs_max) {
      return failure(Errc::limit_reached, "sweep over more than 10000 runs");
    }
  }
  std::vector<SweepPoint> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t left = i;
    points[i].values.resize(axes.size());
    for (std::size_t a = axes.size(); a-- > 0;) {
      points[i].values[a] = axes[a].values[left % axes[a].values.size()];
      left /= axes[a].values.size();
    }
  }
  return points;
}

std::string fill_url(std::string_view url, const std::vector<Axis>& axes, const SweepPoint& point) {
  std::string filled(url);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string name = placeholder(axes[i].name);
    const std::string value = std::to_string(point.values[i]);
    for (std::size_t at = filled.find(name); at != std::string::npos;
         at = filled.find(name, at + value.size())) {
      filled.replace(at, name.size(), value);
    }
  }
  return filled;
}

Result<Options> options_at(const Options& options, std::string_view url,
                           const std::vector<Axis>& axes, const SweepPoint& point) {
  Options made = options;
  SENNIT_TRY(made.url, Url::parse(fill_url(url, axes, point)));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool is_in_url = url.find(placeholder(axes[i].name)) != std::string_view::npos;
    if (is_in_url || set_option(made, axes[i].name, point.values[i])) continue;
    return failure(Errc::invalid_argument,
                   "sweep over '" + axes[i].name +
                       "' (connections, threads, rate, pipeline and body are known; each other "
                       "name has to be in the URL as " +
                       placeholder(axes[i].name) + ")");
  }
  return made;
}

}  // namespace sennit::load
