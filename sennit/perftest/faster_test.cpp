#include "sennit/perftest/faster.hpp"

#include <cmath>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/base/time.hpp"

namespace sennit::perftest {
namespace {

// Something that takes a given time on a manual clock, and now and then much longer.
Repeat takes(double ns, ManualClock& clock, Random& random) {
  return [=, &clock, &random](std::uint64_t times) {
    double took = ns * static_cast<double>(times);
    took *= 1 + 0.05 * random.unit();
    if (random.below(10) == 0) took *= 3;
    clock.advance(Duration(static_cast<std::int64_t>(took)));
  };
}

TEST(CompareInTurns, PassesWhatIsFasterByFar) {
  ManualClock clock;
  Random random(1);
  const FasterResult result =
      compare_in_turns(takes(100, clock, random), takes(200, clock, random), 1.5, clock);
  EXPECT_EQ(result.verdict, Verdict::pass);
  EXPECT_EQ(result.rounds, 16);
  EXPECT_NEAR(result.ratio, 2, 0.1);
}

TEST(CompareInTurns, FailsWhatIsNot) {
  ManualClock clock;
  Random random(2);
  const FasterResult result =
      compare_in_turns(takes(100, clock, random), takes(100, clock, random), 1.2, clock);
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_NEAR(result.ratio, 1, 0.1);
}

TEST(CompareInTurns, DoesNotDecideWhatIsOnTheLine) {
  ManualClock clock;
  Random random(3);
  const FasterResult result =
      compare_in_turns(takes(100, clock, random), takes(150, clock, random), 1.5, clock);
  EXPECT_EQ(result.verdict, Verdict::inconclusive);
  EXPECT_EQ(result.rounds, 128);
}

// The promise of the header, over all looks: at the exact ratio a verdict is wrong in half of the
// cases it is given at all, so it must be given in at most 1 % of them.
TEST(CompareInTurns, IsWrongAtMostOnceInAHundredTimes) {
  Random random(4);
  int decided = 0;
  constexpr int trials = 2000;
  for (int trial = 0; trial < trials; ++trial) {
    ManualClock clock;
    decided += compare_in_turns(takes(100, clock, random), takes(150, clock, random), 1.5, clock)
                   .verdict != Verdict::inconclusive;
  }
  EXPECT_LE(decided, trials / 100);
}

// A tenth beyond the line it is told apart, nearly always and never the wrong way round.
TEST(CompareInTurns, DecidesATenthBeyondTheLine) {
  Random random(5);
  int passed = 0, failed = 0;
  constexpr int trials = 500;
  for (int trial = 0; trial < trials; ++trial) {
    ManualClock clock;
    const Verdict above =
        compare_in_turns(takes(100, clock, random), takes(165, clock, random), 1.5, clock).verdict;
    const Verdict below =
        compare_in_turns(takes(100, clock, random), takes(136, clock, random), 1.5, clock).verdict;
    EXPECT_NE(above, Verdict::fail);
    EXPECT_NE(below, Verdict::pass);
    passed += above == Verdict::pass;
    failed += below == Verdict::fail;
  }
  EXPECT_GE(passed, trials * 95 / 100);
  EXPECT_GE(failed, trials * 95 / 100);
}

// Each turn takes longer than the one before, until everything takes fifty times as long.
TEST(CompareInTurns, IsNotMisledByAMachineThatSlowsDown) {
  ManualClock clock;
  double slowness = 1;
  const auto slowing = [&](double ns) {
    return [&, ns](std::uint64_t times) {
      slowness *= 1.03;
      clock.advance(
          Duration(static_cast<std::int64_t>(ns * slowness * static_cast<double>(times))));
    };
  };
  EXPECT_EQ(compare_in_turns(slowing(100), slowing(150), 1.4, clock).verdict, Verdict::pass);
  slowness = 1;
  EXPECT_EQ(compare_in_turns(slowing(100), slowing(150), 1.6, clock).verdict, Verdict::fail);
  slowness = 1;
  EXPECT_NEAR(compare_in_turns(slowing(100), slowing(100), 1.5, clock).ratio, 1, 0.04);
}

TEST(Judge, NeedsEnoughRounds) {
  EXPECT_EQ(judge(std::vector<double>(5, 2.0), 1), Verdict::inconclusive);
  EXPECT_EQ(judge(std::vector<double>(16, 2.0), 2), Verdict::pass);
  EXPECT_EQ(judge(std::vector<double>(16, 2.0), 2.01), Verdict::fail);
}

TEST(Describe, SaysWhatWasMeasuredAndWanted) {
  const FasterResult result{Verdict::fail, 1.25, Interval{1.2, 1.3}, 32};
  EXPECT_EQ(
      describe(result, 1.5, "ours", "theirs"),
      "ours is 1.250 times as fast as theirs (1.200 to 1.300 with 99.75 % confidence after 32 "
      "rounds); wanted at least 1.500: too slow");
}

// Ten times the work cannot be outrun by noise.
TEST(ExpectFaster, PassesAndFails) {
  std::uint64_t sum = 0;
  const auto little = [&] {
    for (int i = 0; i < 100; ++i) do_not_optimize(sum += static_cast<std::uint64_t>(i));
  };
  const auto much = [&] {
    for (int i = 0; i < 1000; ++i) do_not_optimize(sum += static_cast<std::uint64_t>(i));
  };
  EXPECT_FASTER(little, much, 2);
  EXPECT_NONFATAL_FAILURE(EXPECT_FASTER(much, little, 2), "too slow");
}

}  // namespace
}  // namespace sennit::perftest
