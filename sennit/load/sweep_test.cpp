#include "sennit/load/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Sweep, ReadsListsAndRanges) {
  EXPECT_THAT(parse_axis("connections=1..16x2")->values, ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(parse_axis("connections=3..20x2")->values, ElementsAre(3, 6, 12));
  EXPECT_THAT(parse_axis("rate=100..300+100")->values, ElementsAre(100, 200, 300));
  EXPECT_THAT(parse_axis("n=7,5,7")->values, ElementsAre(7, 5, 7));
  EXPECT_THAT(parse_axis("n=0..2+1")->values, ElementsAre(0, 1, 2));
  EXPECT_EQ(parse_axis("connections=1..2048x2")->values.size(), 12);
}

TEST(Sweep, RefusesWhatIsNoAxis) {
  for (const char* text :
       {"", "=1", "connections", "n=", "n=1,", "n=x", "n=1..", "n=1..2", "n=2..1x2", "n=0..8x2",
        "n=1..8x1", "n=1..8+0", "n=1..99999999999x2", "n=-1", "n=1..100000+1"}) {
    const auto refused = parse_axis(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_THAT(refused.error().to_string(), HasSubstr("connections=1..2048x2"));
  }
}

TEST(Sweep, GoesThroughEveryCombination) {
  const std::vector<Axis> axes = {{"a", {1, 2}}, {"b", {5, 6, 7}}};
  const auto points = sweep_points(axes);
  ASSERT_TRUE(points.has_value());
  ASSERT_EQ(points->size(), 6);
  EXPECT_THAT((*points)[0].values, ElementsAre(1, 5));
  EXPECT_THAT((*points)[1].values, ElementsAre(1, 6));
  EXPECT_THAT((*points)[5].values, ElementsAre(2, 7));
  EXPECT_FALSE(sweep_points({axes[0], axes[0]}).has_value());
  const Axis long_axis{"x", std::vector<std::uint64_t>(500, 1)};
  const auto refused = sweep_points({long_axis, {"y", long_axis.values}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::limit_reached);
}

TEST(Sweep, SetsOptionsAndFillsTheUrl) {
  const Options options(*Url::parse("http://h/"));
  const std::string_view url = "http://h/body/{body}?{n}&{n}";
  const std::vector<Axis> axes = {
      {"connections", {1}}, {"body", {64}}, {"n", {7}}, {"rate", {500}}, {"pipeline", {4}}};
  const SweepPoint point{{1, 64, 7, 500, 4}};
  const auto made = options_at(options, url, axes, point);
  ASSERT_TRUE(made.has_value()) << made.error().to_string();
  EXPECT_EQ(made->url.target(), "/body/64?7&7");
  EXPECT_EQ(made->connections, 1);
  EXPECT_EQ(made->workers, 1) << "no more than connections";
  EXPECT_EQ(made->body, "") << "it is in the URL";
  EXPECT_EQ(made->rate.at(0).from, 500);
  EXPECT_EQ(made->pipeline, 4);

  const auto posted = options_at(options, "http://h/", {{"body", {3}}}, {{3}});
  EXPECT_EQ(posted->body, "xxx");
  EXPECT_EQ(posted->method, "POST");
  EXPECT_EQ(options_at(options, "http://h/", {{"threads", {3}}}, {{3}})->workers, 3);

  const auto refused = options_at(options, "http://h/", {{"size", {3}}}, {{3}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().to_string(), HasSubstr("{size}"));
}

}  // namespace
}  // namespace sennit::load
