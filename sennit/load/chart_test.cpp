#include "sennit/load/chart.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

namespace sennit::load {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Chart, DrawsALineForEachSeries) {
  const std::string svg = line_chart("Latency", {"time", Scale::linear, Unit::seconds},
                                     {"ms", Scale::linear, Unit::plain},
                                     {{"a", {{0, 0}, {10, 100}}}, {"b", {{0, 50}, {10, 50}}}});
  // The corners of the plot: 64..624 by 34..274.
  EXPECT_THAT(svg, HasSubstr("class=\"line c0\" d=\"M64.0 274.0L624.0 34.0\""));
  EXPECT_THAT(svg, HasSubstr("class=\"line c1\" d=\"M64.0 154.0L624.0 154.0\""));
  EXPECT_THAT(svg, HasSubstr("legend"));
  EXPECT_THAT(svg, HasSubstr(">10s</text>"));
}

TEST(Chart, SpacesDecadesAndNinesEvenly) {
  const std::string svg = line_chart("t", {"p", Scale::nines, Unit::percent},
                                     {"us", Scale::logarithmic, Unit::microseconds},
                                     {{"a", {{0, 1}, {90, 10}, {99, 100}, {99.9, 1000}}}});
  EXPECT_THAT(svg, HasSubstr("d=\"M64.0 274.0L250.7 194.0L437.3 114.0L624.0 34.0\""));
  EXPECT_THAT(svg, HasSubstr(">99.9%</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("legend")));
}

TEST(Chart, InterruptsTheLineWhereNothingCanBeDrawn) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string svg = line_chart("t", {"x"}, {"y", Scale::logarithmic},
                                     {{"a", {{0, 1}, {1, nan}, {2, 0}, {3, 10}}}});
  EXPECT_THAT(svg, HasSubstr("d=\"M64.0 274.0M624.0 34.0\""));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(Chart, OfNothingIsStillAChart) {
  for (const Scale scale : {Scale::linear, Scale::logarithmic, Scale::nines}) {
    const std::string svg = line_chart("t", {"x", scale}, {"y", scale}, {{"a", {}}});
    EXPECT_THAT(svg, HasSubstr("</svg>"));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(Chart, EscapesEveryText) {
  const std::string bad = "<script>\"&'\n";
  const std::string svg = line_chart(bad, {bad}, {bad}, {{bad, {{0, 1}}}, {bad, {}}}) +
                          heat_map(bad, bad, bad, {{bad}, {bad}, {1}}, Unit::plain);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_EQ(escape_html(bad), "&lt;script&gt;&quot;&amp;&#39; ");
}

TEST(Chart, ShadesHeatMapsByValue) {
  const std::string svg = heat_map("QPS", "connections", "body",
                                   {{"1", "2"}, {"16"}, {100, std::nan("")}}, Unit::plain);
  EXPECT_THAT(svg, HasSubstr(">100</text>"));
  EXPECT_THAT(svg, HasSubstr("fill-opacity=\"0.00\""));
  EXPECT_THAT(svg, HasSubstr(">-</text>"));
}

TEST(Chart, LabelsValuesWithTheirUnits) {
  EXPECT_EQ(value_label(999, Unit::plain), "999");
  EXPECT_EQ(value_label(1500, Unit::plain), "1.5k");
  EXPECT_EQ(value_label(2e6, Unit::plain), "2M");
  EXPECT_EQ(value_label(250, Unit::microseconds), "250us");
  EXPECT_EQ(value_label(2500, Unit::microseconds), "2.5ms");
  EXPECT_EQ(value_label(2.5e6, Unit::microseconds), "2.5s");
  EXPECT_EQ(value_label(99.99, Unit::percent), "99.99%");
}

}  // namespace
}  // namespace sennit::load
