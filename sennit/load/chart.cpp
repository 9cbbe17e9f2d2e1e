#include "sennit/load/chart.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <limits>
#include <optional>

#include "sennit/load/units.hpp"

namespace sennit::load {
namespace {

constexpr double width = 640, height = 320;
constexpr double left = 64, right = 16, top = 34, bottom = 46;
constexpr int colours = 8;

/// From a value to its place between 0 and 1, and where to draw ticks.
class PlacedAxis {
 public:
  PlacedAxis(const ChartAxis& axis, double low, double high) : axis_(axis) {
    if (axis.scale == Scale::logarithmic) {
      low_ = std::log10(low), high_ = std::log10(high);
    } else if (axis.scale == Scale::nines) {
      low_ = 0, high_ = std::max(nines(high), 1.0);
    } else {
      low_ = std::min(low, 0.0), high_ = high;
    }
    if (!(high_ > low_)) high_ = low_ + 1;
    make_ticks();
  }

  [[nodiscard]] std::optional<double> place(double value) const {
    if (!std::isfinite(value)) return std::nullopt;
    double at = value;
    if (axis_.scale == Scale::logarithmic) {
      if (value <= 0) return std::nullopt;
      at = std::log10(value);
    } else if (axis_.scale == Scale::nines) {
      if (value < 0 || value >= 100) return std::nullopt;
      at = nines(value);
    }
    return std::clamp((at - low_) / (high_ - low_), 0.0, 1.0);
  }
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  static double nines(double percent) { return -std::log10(1 - percent / 100); }

  void make_ticks() {
    if (axis_.scale == Scale::nines) {
      for (const double tick : {0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999}) {
        if (nines(tick) <= high_ + 1e-9) ticks_.push_back(tick);
      }
    } else if (axis_.scale == Scale::logarithmic) {
      const bool has_room = high_ - low_ < 3;
      for (double power = std::floor(low_); power <= high_; ++power) {
        for (const double digit : {1.0, 2.0, 5.0}) {
          const double at = power + std::log10(digit);
          if ((digit == 1 || has_room) && at >= low_ - 1e-9 && at <= high_ + 1e-9) {
            ticks_.push_back(digit * std::pow(10, power));
          }
        }
      }
    } else {
      const double step = nice_step((high_ - low_) / 5);
      for (double tick = std::ceil(low_ / step) * step; tick <= high_ + step / 1e6; tick += step) {
        ticks_.push_back(tick);
      }
    }
  }
  /// 1, 2 or 5 times a power of ten, not below `rough`.
  static double nice_step(double rough) {
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double digit : {1.0, 2.0, 5.0}) {
      if (digit * power >= rough) return digit * power;
    }
    return 10 * power;
  }

  const ChartAxis& axis_;
  double low_ = 0, high_ = 1;
  std::vector<double> ticks_;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value, Scale scale) {
    const bool is_drawn = std::isfinite(value) && !(scale == Scale::logarithmic && value <= 0) &&
                          !(scale == Scale::nines && (value < 0 || value >= 100));
    if (!is_drawn) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] PlacedAxis axis(const ChartAxis& axis) const {
    const bool is_empty = low > high;
    return {axis, is_empty ? 1 : low, is_empty ? 10 : high};
  }
};

double x_at(double place) { return left + place * (width - left - right); }
double y_at(double place) { return height - bottom - place * (height - top - bottom); }

void begin(std::string& svg, std::string_view title, double svg_height) {
  svg += fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n"
      "<text class=\"title\" x=\"{}\" y=\"18\">{}</text>\n",
      width, svg_height, escape_html(title), left, escape_html(title));
}

void add_axes(std::string& svg, const ChartAxis& x, const PlacedAxis& x_axis, const ChartAxis& y,
              const PlacedAxis& y_axis) {
  for (const double tick : x_axis.ticks()) {
    const double at = x_at(x_axis.place(tick).value_or(0));
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
        "<text class=\"tick\" x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        at, top, height - bottom, height - bottom + 16, value_label(tick, x.unit));
  }
  for (const double tick : y_axis.ticks()) {
    const double at = y_at(y_axis.place(tick).value_or(0));
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{1}\" x2=\"{2}\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>"
        "<text class=\"tick\" x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        at, left, width - right, left - 6, at + 4, value_label(tick, y.unit));
  }
  svg += fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                     (left + width - right) / 2, height - 10, escape_html(x.label));
  svg += fmt::format(
      "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(14 {}) rotate(-90)\">{}"
      "</text>\n",
      (top + height - bottom) / 2, escape_html(y.label));
}

void add_line(std::string& svg, const ChartSeries& series, int number, const PlacedAxis& x_axis,
              const PlacedAxis& y_axis) {
  std::string path;
  bool is_pen_down = false;
  for (const auto& [x, y] : series.points) {
    const auto place_x = x_axis.place(x), place_y = y_axis.place(y);
    if (place_x && place_y) {
      path +=
          fmt::format("{}{:.1f} {:.1f}", is_pen_down ? "L" : "M", x_at(*place_x), y_at(*place_y));
    }
    is_pen_down = place_x && place_y;
  }
  svg += fmt::format("<path class=\"line c{}\" d=\"{}\"><title>{}</title></path>\n",
                     number % colours, path, escape_html(series.name));
}

void add_legend(std::string& html, const std::vector<ChartSeries>& series) {
  html += "<div class=\"legend\">";
  for (std::size_t i = 0; i < series.size(); ++i) {
    html += fmt::format("<span><i class=\"c{}\"></i>{}</span> ", i % colours,
                        escape_html(series[i].name));
  }
  html += "</div>\n";
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string escaped;
  for (const char character : text) {
    switch (character) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += static_cast<unsigned char>(character) < 0x20 ? ' ' : character;
    }
  }
  return escaped;
}

std::string value_label(double value, Unit unit) {
  if (!std::isfinite(value)) return "-";
  switch (unit) {
    case Unit::microseconds:
      if (value < 1000) return fmt::format("{:.3g}us", value);
      return value < 1e6 ? fmt::format("{:.3g}ms", value / 1e3)
                         : fmt::format("{:.3g}s", value / 1e6);
    case Unit::seconds:
      return fmt::format("{:.6g}s", value);
    case Unit::percent:
      return fmt::format("{:.8g}%", value);
    case Unit::plain:
      break;
  }
  if (std::abs(value) >= 1e6) return fmt::format("{:.3g}M", value / 1e6);
  if (std::abs(value) >= 1e3) return fmt::format("{:.3g}k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string line_chart(std::string_view title, const ChartAxis& x, const ChartAxis& y,
                       const std::vector<ChartSeries>& series) {
  Range x_range, y_range;
  for (const ChartSeries& one : series) {
    for (const auto& point : one.points) {
      x_range.add(point.x, x.scale);
      y_range.add(point.y, y.scale);
    }
  }
  const PlacedAxis x_axis = x_range.axis(x), y_axis = y_range.axis(y);
  std::string html = "<figure>";
  begin(html, title, height);
  add_axes(html, x, x_axis, y, y_axis);
  for (std::size_t i = 0; i < series.size(); ++i) {
    add_line(html, series[i], static_cast<int>(i), x_axis, y_axis);
  }
  html += "</svg>\n";
  if (series.size() > 1) add_legend(html, series);
  return html + "</figure>\n";
}

std::string heat_map(std::string_view title, std::string_view column_label,
                     std::string_view row_label, const HeatMap& map, Unit unit) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double value : map.values) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  constexpr double cell_height = 24;
  const double rows = static_cast<double>(map.rows.size());
  const double cell_width =
      (width - left - right) / std::max(static_cast<double>(map.columns.size()), 1.0);
  std::string html = "<figure>";
  begin(html, title, top + rows * cell_height + bottom);
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    const double y = top + static_cast<double>(row) * cell_height;
    html +=
        fmt::format("<text class=\"tick\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                    left - 6, y + 16, escape_html(map.rows[row]));
    for (std::size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.values[row * map.columns.size() + column];
      const double share = most > least ? (value - least) / (most - least) : 0.5;
      const double x = left + static_cast<double>(column) * cell_width;
      const double strength = std::isfinite(value) ? 0.08 + 0.92 * share : 0;
      html += fmt::format(
          "<rect class=\"cell\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" "
          "fill-opacity=\"{:.2f}\"/><text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" "
          "text-anchor=\"middle\">{}</text>\n",
          x, y, cell_width - 1, cell_height - 1, strength, strength > 0.55 ? "in-dark" : "in-light",
          x + cell_width / 2, y + 16, value_label(value, unit));
    }
  }
  const double below = top + rows * cell_height + 16;
  for (std::size_t column = 0; column < map.columns.size(); ++column) {
    html += fmt::format(
        "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
        left + (static_cast<double>(column) + 0.5) * cell_width, below,
        escape_html(map.columns[column]));
  }
  html += fmt::format(
      "<text class=\"label\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n"
      "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(14 {:.1f}) rotate(-90)\">"
      "{}</text>\n</svg></figure>\n",
      (left + width - right) / 2, below + 20, escape_html(column_label),
      top + rows * cell_height / 2, escape_html(row_label));
  return html;
}

std::string_view chart_style() {
  return R"(figure { margin: 0; }
.chart { width: 100%; height: auto; display: block; }
.chart text { font: 11px system-ui, sans-serif; fill: var(--soft); }
.chart .title { font-size: 13px; font-weight: 600; fill: var(--text); }
.chart .grid { stroke: var(--line); stroke-width: 1; }
.chart .line { fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round; }
.chart .cell { fill: #2563eb; }
.chart .in-dark { fill: #fff; font-size: 10px; }
.chart .in-light { fill: var(--text); font-size: 10px; }
.legend { font-size: .8rem; padding-left: 64px; color: var(--soft); }
.legend span { margin-right: 1em; white-space: nowrap; }
.legend i { display: inline-block; width: 1em; height: .25em; margin-right: .4em;
  background: currentColor; vertical-align: middle; }
.c0 { color: #2563eb; } .c1 { color: #dc2626; } .c2 { color: #059669; } .c3 { color: #d97706; }
.c4 { color: #7c3aed; } .c5 { color: #0891b2; } .c6 { color: #be185d; } .c7 { color: #65a30d; }
)";
}

}  // namespace sennit::load
