#include "sennit/perftest/compare.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::perftest {
namespace {

using Times = std::vector<double>;

Recorded report(std::vector<Recorded::Test> tests) { return {"class", std::move(tests)}; }

Recorded::Test recorded(std::string name, Times times) {
  return {std::move(name), std::move(times), {}};
}

Change change_between(Times before, Times after) {
  return compare(report({recorded("A.b", std::move(before))}),
                 report({recorded("A.b", std::move(after))}), 5)
      .tests.at(0)
      .change;
}

TEST(Compare, TellsChangesFromNoise) {
  const Times times{100, 101, 99, 100, 102};
  EXPECT_EQ(change_between(times, {101, 100, 99, 102, 100}), Change::none);
  EXPECT_EQ(change_between(times, {120, 121, 119, 118, 122}), Change::slower);
  EXPECT_EQ(change_between(times, {80, 81, 79, 82, 80}), Change::faster);
  EXPECT_EQ(change_between(times, {90, 100, 110, 130, 120}), Change::unclear);
  EXPECT_EQ(change_between(times, {103, 104, 105, 106, 107}), Change::unclear);
  EXPECT_EQ(change_between({100}, {200}), Change::unclear);  // One repetition proves nothing.
}

TEST(Compare, ListsWhatCameAndWent) {
  const Recorded before = report({recorded("A.gone", {1}), recorded("A.stays", {1, 1, 1, 1, 1})});
  const Recorded after = report({recorded("A.new", {2}), recorded("A.stays", {1, 1, 1, 1, 1})});
  const Comparison comparison = compare(before, after, 5);
  ASSERT_EQ(comparison.tests.size(), 3U);
  EXPECT_EQ(comparison.tests[0].change, Change::added);
  EXPECT_EQ(comparison.tests[1].change, Change::none);
  EXPECT_EQ(comparison.tests[2].change, Change::removed);
  EXPECT_FALSE(comparison.has_regression());
}

TEST(Compare, FindsRegressions) {
  const Comparison comparison = compare(report({recorded("A.b", {1, 1, 1, 1, 1})}),
                                        report({recorded("A.b", {2, 2, 2, 2, 2})}), 5);
  EXPECT_TRUE(comparison.has_regression());
  EXPECT_EQ(describe(comparison),
            "test     before ns      after ns      time        95 % confidence\n"
            "A.b           1.00          2.00  +100.0 %   +100.0 % .. +100.0 %  SLOWER\n"
            "1 slower, 0 faster, 0 the same, 0 unclear, 0 added, 0 removed\n");
}

// A machine of half the speed: every time doubles, the ratios stay.
TEST(Compare, GoesByRatiosWhereThereAreSome) {
  const auto beside = [](std::string name, Times times, Times ratios) {
    return Recorded::Test{std::move(name), std::move(times), Beside{"A.b/peer", std::move(ratios)}};
  };
  const Recorded before = report({recorded("A.b/peer", {10, 10, 10, 10, 10}),
                                  beside("A.b/same", {20, 20, 20, 20, 20}, {2, 2, 2, 2, 2}),
                                  beside("A.b/worse", {30, 30, 30, 30, 30}, {3, 3, 3, 3, 3})});
  const Recorded after = report({recorded("A.b/peer", {20, 20, 20, 20, 20}),
                                 beside("A.b/same", {40, 40, 40, 40, 40}, {2, 2, 2, 2, 2}),
                                 beside("A.b/worse", {30, 30, 30, 30, 30}, {6, 6, 6, 6, 6})});
  const Comparison comparison = compare(before, after, 5);
  ASSERT_EQ(comparison.tests.size(), 3U);
  EXPECT_EQ(comparison.tests[0].change, Change::measure);
  EXPECT_EQ(comparison.tests[1].change, Change::none);
  EXPECT_EQ(comparison.tests[2].change, Change::slower);
  EXPECT_NE(describe(comparison).find("A.b/worse       x 3.000       x 6.000  +100.0 %"),
            std::string::npos)
      << describe(comparison);
}

TEST(Compare, WarnsAcrossMachines) {
  Recorded other = report({});
  other.machine_class = "other";
  const Comparison comparison = compare(report({}), other, 5);
  EXPECT_FALSE(comparison.same_machine_class);
  EXPECT_TRUE(describe(comparison).starts_with("warning: "));
}

}  // namespace
}  // namespace sennit::perftest
