#include "sennit/runtime/simulated/kernel.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::runtime::simulated {
namespace {

using namespace std::chrono_literals;

/// Does some work at each of its instants.
class ScriptedActor : public Kernel::Actor {
 public:
  ScriptedActor(Kernel& kernel, std::string& log, char name, int turns)
      : kernel_(kernel), log_(log), name_(name), turns_(turns) {
    kernel_.add(*this);
  }
  ~ScriptedActor() override { kernel_.remove(*this); }
  [[nodiscard]] bool has_work() const override { return turns_ > 0; }
  [[nodiscard]] TimePoint next_expiry() const override { return TimePoint::max(); }
  void run_turn() override {
    log_ += name_;
    --turns_;
  }

 private:
  Kernel& kernel_;
  std::string& log_;
  char name_;
  int turns_;
};

std::string actor_order(std::uint64_t seed) {
  Kernel kernel({.seed = seed});
  std::string log;
  ScriptedActor a(kernel, log, 'a', 8), b(kernel, log, 'b', 8), c(kernel, log, 'c', 8);
  while (kernel.step()) {
  }
  return log;
}

TEST(Kernel, GivesTurnsInAnOrderThatTheSeedDecides) {
  EXPECT_EQ(actor_order(1).size(), 24U);
  EXPECT_EQ(actor_order(1), actor_order(1));
  EXPECT_NE(actor_order(1), actor_order(2));
}

TEST(Kernel, JumpsToWhatIsDueNext) {
  Kernel kernel({.seed = 1});
  const TimePoint start = kernel.now();
  std::vector<Duration> happened;
  for (const Duration delay : {Duration(3h), Duration(1ms), Duration(24h * 30)}) {
    kernel.after(delay, [&] { happened.push_back(kernel.now() - start); });
  }
  kernel.run_until([&] { return happened.size() == 3; });
  EXPECT_EQ(happened, (std::vector<Duration>{1ms, 3h, 24h * 30}));
  EXPECT_LE(kernel.step_count(), 10U) << "a jump is one step, however far";
}

TEST(Kernel, KeepsTheOrderOfWhatIsDueAtOnce) {
  Kernel kernel({.seed = 1});
  std::string log;
  for (const char name : std::string("abcdef")) {
    kernel.at(kernel.now() + 1s, [&, name] { log += name; });
  }
  kernel.run_for(2s);
  EXPECT_EQ(log, "abcdef");
}

TEST(Kernel, StopsWhereItIsToldThoughMoreIsDue) {
  Kernel kernel({.seed = 1});
  const TimePoint start = kernel.now();
  bool happened = false;
  kernel.after(1h, [&] { happened = true; });
  kernel.run_for(1min);
  EXPECT_FALSE(happened);
  EXPECT_EQ(kernel.now() - start, 1min);
}

// A loop that only polls must get to the instant it waits for.
TEST(Kernel, LetsTimePassForWhoeverIsAlwaysBusy) {
  Kernel kernel({.seed = 1});
  std::string log;
  bool happened = false;
  kernel.after(100us, [&] { happened = true; });
  ScriptedActor busy(kernel, log, 'x', 1'000'000);
  kernel.run_until([&] { return happened; });
  EXPECT_GT(log.size(), 10U);
  EXPECT_LT(log.size(), 10'000U);
}

TEST(Kernel, TellsRunsApartByTheirTrace) {
  const auto hash_of = [](std::uint64_t first, Duration delay) {
    Kernel kernel({.seed = 1, .trace_lines_max = 2});
    kernel.note("begin");
    kernel.after(delay, [&] { kernel.note("something", first, 2); });
    kernel.run_for(1s);
    EXPECT_EQ(kernel.trace().size(), 2U);
    EXPECT_TRUE(kernel.trace().back().ends_with("something " + std::to_string(first) + " 2"));
    return kernel.trace_hash();
  };
  EXPECT_EQ(hash_of(1, 1ms), hash_of(1, 1ms));
  EXPECT_NE(hash_of(1, 1ms), hash_of(2, 1ms));
  EXPECT_NE(hash_of(1, 1ms), hash_of(1, 2ms));
}

TEST(Kernel, ForgetsTheOldestLinesOfItsTrace) {
  Kernel kernel({.seed = 1, .trace_lines_max = 2});
  for (std::uint64_t i = 0; i < 5; ++i) kernel.note("line", i);
  ASSERT_EQ(kernel.trace().size(), 2U);
  EXPECT_TRUE(kernel.trace().front().ends_with("line 3 0"));
}

TEST(KernelDeathTest, SaysThatNothingIsLeftToHappen) {
  Kernel kernel({.seed = 77});
  EXPECT_DEATH(kernel.run_until([] { return false; }), "the simulation is stuck(.|\n)*77");
}

TEST(KernelDeathTest, StopsASimulationThatGoesOnForEver) {
  Kernel kernel({.seed = 1, .time_max = 1h});
  std::function<void()> again = [&] { kernel.after(1s, again); };
  again();
  EXPECT_DEATH(kernel.run_until([] { return false; }), "goes on for ever");
}

}  // namespace
}  // namespace sennit::runtime::simulated
