#include "sennit/runtime/testing/simulation.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

#include "sennit/base/log.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/testing/seeds.hpp"

namespace sennit::runtime::testing {
namespace {

using namespace std::chrono_literals;

class SimulationTest : public ::testing::Test {
 protected:
  SimulationTest() { log::set_level(log::Level::warning); }
};
using SimulationDeathTest = SimulationTest;

TEST_F(SimulationTest, LetsADayPassAtOnce) {
  Simulation sim;
  sim.run([] { wait(sleep_for(24h)); });
  EXPECT_GE(sim.elapsed(), 24h);
  EXPECT_LE(sim.elapsed(), 24h + 1s);
  EXPECT_LE(sim.kernel().step_count(), 100U);
}

TEST_F(SimulationTest, RunsCoroutinesAndReturnsTheirResults) {
  Simulation sim;
  EXPECT_EQ(sim.run([]() -> Task<int> {
    co_await sleep_for(1min);
    co_return 42;
  }),
            42);
}

/// The order in which workers of several machines get somewhere.
std::string worker_order(std::uint64_t seed) {
  Simulation sim({.seed = seed, .workers = 3});
  Runtime& elsewhere = sim.add_machine("10.0.0.2", 2);
  std::string order;
  unsigned running = 0;
  const auto walk = [&](Runtime& machine, unsigned index, char name) {
    ++running;
    machine.worker(index).post([&, name] {
      struct Walk : FiberJob {
        Walk(std::string& o, unsigned& r, char n)
            : FiberJob(
                  [](FiberJob& job) noexcept {
                    auto& self = static_cast<Walk&>(job);
                    for (int i = 0; i < 5; ++i) {
                      self.order += self.name;
                      wait(yield());
                    }
                  },
                  [](FiberJob& job) noexcept {
                    --static_cast<Walk&>(job).running;
                    delete &static_cast<Walk&>(job);
                  }),
              order(o),
              running(r),
              name(n) {}
        std::string& order;
        unsigned& running;
        char name;
      };
      EXPECT_TRUE(Worker::here().run_on_fiber(*new Walk(order, running, name)).has_value());
    });
  };
  for (unsigned i = 0; i < 3; ++i) walk(sim.runtime(), i, static_cast<char>('a' + i));
  for (unsigned i = 0; i < 2; ++i) walk(elsewhere, i, static_cast<char>('d' + i));
  sim.run_until([&] { return running == 0; });
  return order;
}

TEST_F(SimulationTest, TurnsManyWorkersOnOneThreadInAnOrderOfTheSeed) {
  const std::string order = worker_order(1);
  EXPECT_EQ(order.size(), 25U);
  EXPECT_EQ(order, worker_order(1));
  EXPECT_NE(order, worker_order(2));
}

TEST_F(SimulationTest, GivesEachWorkerItsOwnPointerAndRandomNumbers) {
  Simulation sim({.seed = 5, .workers = 2});
  EXPECT_EQ(sim.run([] { return Worker::here().index(); }, 0), 0U);
  EXPECT_EQ(sim.run([] { return Worker::here().index(); }, 1), 1U);
  EXPECT_EQ(Worker::current(), nullptr);
  const auto draw = [](Simulation& from, unsigned worker) {
    return from.run([] { return Worker::here().random().next(); }, worker);
  };
  Simulation again({.seed = 5, .workers = 2});
  EXPECT_EQ(draw(sim, 0), draw(again, 0));
  EXPECT_NE(draw(sim, 0), draw(sim, 1));
}

TEST_F(SimulationTest, RunsWhatIsDueWhileTimePasses) {
  Simulation sim;
  int ticks = 0;
  sim.runtime().worker(0).post([&] {
    struct Ticking : Timer {
      explicit Ticking(int& t)
          : Timer([](Timer& timer) {
              auto& self = static_cast<Ticking&>(timer);
              ++self.ticks;
              delete &self;
            }),
            ticks(t) {}
      int& ticks;
    };
    for (int second = 1; second <= 10; ++second) {
      Worker& worker = Worker::here();
      worker.timers().arm(*new Ticking(ticks), worker.now() + std::chrono::seconds(second));
    }
  });
  sim.run_for(5500ms);
  EXPECT_EQ(ticks, 5);
  sim.run_for(10s);
  EXPECT_EQ(ticks, 10);
}

TEST_F(SimulationTest, ReadsTheSeedFromTheEnvironment) {
  const char* const before = std::getenv("SENNIT_SEED");
  const std::string kept = before == nullptr ? "" : before;
  log::set_level(log::Level::off);
  struct Case {
    const char* text;
    std::uint64_t seed;
  };
  for (const auto& [text, seed] : {Case{"", 0}, Case{"x", 0}, Case{"12x", 0}, Case{"-1", 0},
                                   Case{"99999999999999999999999", 0}, Case{"12", 12}}) {
    ::setenv("SENNIT_SEED", text, 1);
    EXPECT_EQ(seed_from_environment(), seed) << text;
  }
  std::vector<std::uint64_t> ran;
  for_each_seed(100, [&](std::uint64_t seed) { ran.push_back(seed); });
  EXPECT_EQ(ran, std::vector<std::uint64_t>{12});
  if (before == nullptr) {
    ::unsetenv("SENNIT_SEED");
  } else {
    ::setenv("SENNIT_SEED", kept.c_str(), 1);
  }
}

TEST_F(SimulationDeathTest, SaysTheSeedWhenTheProgramStops) {
  const auto body = [] {
    const SeedOnAbort on_abort(4711);
    Simulation sim({.seed = 4711});
    sim.run([] { SENNIT_ASSERT(false); });
  };
  EXPECT_DEATH(body(), "SENNIT_SEED=4711 replays this");
}

}  // namespace
}  // namespace sennit::runtime::testing
