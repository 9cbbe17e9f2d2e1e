#include "sennit/perftest/rounds.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/base/time.hpp"
#include "sennit/perftest/detail/session.hpp"

namespace sennit::perftest {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t second_ns = 1'000'000'000;

// Things that take a given time each, on a machine that becomes slower and slower.
class RoundsTest : public testing::Test {
 protected:
  [[nodiscard]] auto taking(double ns) {
    return [=, this](std::uint64_t times) {
      slowness_ = std::clamp(slowness_ * (0.97 + 0.1 * random_.unit()), 1.0, 1e6);
      clock_.advance(
          Duration(static_cast<std::int64_t>(ns * slowness_ * static_cast<double>(times))));
    };
  }

  ManualClock clock_;
  Random random_{7};
  double slowness_ = 1;
  Rounds rounds_;
};

TEST_F(RoundsTest, FindTheRatioOnAMachineWhoseSpeedChanges) {
  rounds_.add("one", taking(100));
  rounds_.add("two", taking(200));
  const auto contestants = rounds_.measure(second_ns, clock_);
  ASSERT_EQ(contestants.size(), 2U);
  EXPECT_EQ(rounds_["one"].ratio(), 1);
  EXPECT_NEAR(rounds_["two"].ratio(), 2, 0.1);
  ASSERT_TRUE(rounds_["two"].interval().has_value());
  EXPECT_LE(rounds_["two"].interval()->low, 2);
  EXPECT_GE(rounds_["two"].interval()->high, 2);
  const auto [least, greatest] = std::ranges::minmax(rounds_["two"].ns_per_call);
  EXPECT_GT(greatest / least, 2);  // Which the times do not.
}

TEST_F(RoundsTest, GiveEachTheFirstTurnEquallyOften) {
  std::string order;
  for (const char name : {'a', 'b', 'c'}) {
    rounds_.add(std::string(1, name), [&, name](std::uint64_t times) {
      order += name;
      clock_.advance(milliseconds(20) * times);  // A turn each.
    });
  }
  rounds_.measure(second_ns, clock_);
  EXPECT_EQ(order.substr(0, 12),
            "abc"
            "abc"
            "bca"
            "cab");  // The first are the search.
  EXPECT_EQ(order.size(), 3U * (1 + rounds_wanted));
}

TEST_F(RoundsTest, AreFewerForWhatTakesLong) {
  rounds_.add("slow", [&] { clock_.advance(std::chrono::seconds(3)); });
  const auto contestants = rounds_.measure(second_ns, clock_);
  EXPECT_EQ(contestants[0].calls, static_cast<std::uint64_t>(rounds_least));
  EXPECT_EQ(contestants[0].ns_per_call, std::vector<double>(rounds_least, 3e9));
}

TEST_F(RoundsTest, CompareByTheItem) {
  rounds_.add("single", [&](std::uint64_t times) { clock_.advance(Duration(100) * times); });
  rounds_.add("batch", [&](std::uint64_t times) { clock_.advance(Duration(500) * times); }, 10);
  rounds_.measure(second_ns, clock_);
  EXPECT_DOUBLE_EQ(rounds_["batch"].ns_per_item(), 50);
  EXPECT_DOUBLE_EQ(rounds_["batch"].ratio(), 0.5);
}

TEST_F(RoundsTest, AreToldAsTimesAndRatios) {
  rounds_.add("table", [&](std::uint64_t times) { clock_.advance(Duration(50) * times); });
  rounds_.add("tree", [&](std::uint64_t times) { clock_.advance(Duration(185) * times); });
  EXPECT_EQ(describe(rounds_.measure(second_ns, clock_)),
            "      table: 50.0 ns\n"
            "       tree: 185 ns, 3.7 times as long (3.7 to 3.7)\n");
}

TEST_F(RoundsTest, AreKeptForTheReport) {
  const std::size_t before = detail::session().report.tests.size();
  const auto flags = detail::session().flags;
  detail::session().flags.time_ms = 1;
  std::uint64_t calls = 0;
  rounds_.add("one", [&] { return ++calls; });
  rounds_.add("other", [&] { ++calls; });
  rounds_.run();
  detail::session().flags = flags;
  const auto& tests = detail::session().report.tests;
  ASSERT_EQ(tests.size(), before + 2);
  EXPECT_EQ(tests[before].name, "RoundsTest.AreKeptForTheReport/one");
  EXPECT_FALSE(tests[before].beside.has_value());
  EXPECT_EQ(tests[before + 1].name, "RoundsTest.AreKeptForTheReport/other");
  ASSERT_TRUE(tests[before + 1].beside.has_value());
  EXPECT_EQ(tests[before + 1].beside->name, "RoundsTest.AreKeptForTheReport/one");
  EXPECT_EQ(tests[before + 1].beside->ratios.size(),
            tests[before + 1].measurement.ns_per_call.size());
  EXPECT_GE(calls, tests[before].measurement.calls + tests[before + 1].measurement.calls);
}

using RoundsDeathTest = RoundsTest;
TEST_F(RoundsDeathTest, RefuseTheSameNameTwice) {
  rounds_.add("one", taking(1));
  EXPECT_DEATH(rounds_.add("one", taking(1)), "name");
}

}  // namespace
}  // namespace sennit::perftest
