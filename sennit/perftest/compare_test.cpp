#include "sennit/perftest/compare.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::perftest {
namespace {

using Times = std::vector<double>;

Recorded report(std::vector<Recorded::Test> tests) { return {"class", std::move(tests)}; }

Change change_between(Times before, Times after) {
  return compare(report({{"A.b", std::move(before)}}), report({{"A.b", std::move(after)}}), 5)
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
  const Recorded before = report({{"A.gone", {1}}, {"A.stays", {1, 1, 1, 1, 1}}});
  const Recorded after = report({{"A.new", {2}}, {"A.stays", {1, 1, 1, 1, 1}}});
  const Comparison comparison = compare(before, after, 5);
  ASSERT_EQ(comparison.tests.size(), 3U);
  EXPECT_EQ(comparison.tests[0].change, Change::added);
  EXPECT_EQ(comparison.tests[1].change, Change::none);
  EXPECT_EQ(comparison.tests[2].change, Change::removed);
  EXPECT_FALSE(comparison.has_regression());
}

TEST(Compare, FindsRegressions) {
  const Comparison comparison =
      compare(report({{"A.b", {1, 1, 1, 1, 1}}}), report({{"A.b", {2, 2, 2, 2, 2}}}), 5);
  EXPECT_TRUE(comparison.has_regression());
  EXPECT_EQ(describe(comparison),
            "test     before ns      after ns      time        95 % confidence\n"
            "A.b           1.00          2.00  +100.0 %   +100.0 % .. +100.0 %  SLOWER\n"
            "1 slower, 0 faster, 0 the same, 0 unclear, 0 added, 0 removed\n");
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
