#pragma once
// Charts as SVG, for reports that are one file: lines over axes, and heat maps.
//
// Colours come from the page's style sheet (chart_style()), so that a page can be dark or light.
// Every text is escaped. Thread safety: pure functions.

#include <string>
#include <string_view>
#include <vector>

namespace sennit::load {

enum class Scale : unsigned char {
  linear,
  logarithmic,  // Only values above zero are drawn.
  nines,        // For percentiles from 0 to below 100: 90, 99, 99.9 are equally far apart.
};

enum class Unit : unsigned char { plain, microseconds, seconds, percent };

struct ChartAxis {
  std::string label;
  Scale scale = Scale::linear;
  Unit unit = Unit::plain;
};

struct ChartSeries {
  struct Point {
    double x, y;
  };
  std::string name;
  std::vector<Point> points;  // In ascending order of x; what is not finite interrupts the line.
};

/// A line for each series, with a legend if there are several. At most eight series are told apart
/// by colour.
[[nodiscard]] std::string line_chart(std::string_view title, const ChartAxis& x, const ChartAxis& y,
                                     const std::vector<ChartSeries>& series);

struct HeatMap {
  std::vector<std::string> columns, rows;
  std::vector<double> values;  // Row by row; not finite: nothing was measured there.
};
/// Darker is more; each cell shows its value.
[[nodiscard]] std::string heat_map(std::string_view title, std::string_view column_label,
                                   std::string_view row_label, const HeatMap& map, Unit unit);

/// "1.2k", "3.50ms", "99.9%".
[[nodiscard]] std::string value_label(double value, Unit unit);

/// Text as it may stand in HTML and SVG.
[[nodiscard]] std::string escape_html(std::string_view text);

/// The style sheet that charts need.
[[nodiscard]] std::string_view chart_style();

}  // namespace sennit::load
