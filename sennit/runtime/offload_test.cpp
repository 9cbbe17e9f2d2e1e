#include "sennit/runtime/offload.hpp"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/detail/testing/gate.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/testing/seeds.hpp"
#include "sennit/runtime/testing/simulation.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

class OffloadTest : public testing::BackendTest {
 protected:
  [[nodiscard]] RuntimeOptions options() const override {
    RuntimeOptions wanted = BackendTest::options();
    wanted.pools.blocking.threads_max = 2;
    wanted.pools.blocking.queue_max = 2;
    wanted.pools.compute.threads = 2;
    wanted.pools.compute.new_queues.length_max = 2;
    return wanted;
  }
};

int fail_with(const char* message) { throw std::runtime_error(message); }

TEST_P(OffloadTest, BringsBackWhatTheFunctionThrows) {
  runtime().run([] {
    EXPECT_THROW((void)wait(offload(fail_with, "blocking")), std::runtime_error);
    EXPECT_THROW((void)wait(compute("q", fail_with, "computing")), std::runtime_error);
    EXPECT_EQ(wait(offload([] { return 1; })), 1) << "and goes on";
  });
}

TEST_P(OffloadTest, BringsBackWhatTheFunctionReturns) {
  runtime().run([] {
    const auto outside = [] { return Worker::current() == nullptr; };
    EXPECT_EQ(wait(offload(outside)), true);
    EXPECT_EQ(wait(compute("q", outside)), true);
    EXPECT_EQ(wait(offload([](int a, int b) { return a + b; }, 20, 22)), 42);
    auto moved = wait(
        compute("q", [](std::unique_ptr<int> owned) { return owned; }, std::make_unique<int>(7)));
    ASSERT_TRUE(moved.has_value());
    EXPECT_EQ(**moved, 7);
    bool ran = false;
    EXPECT_TRUE(wait(offload([&] { ran = true; })).has_value());
    EXPECT_TRUE(ran);
  });
}

int twice(int n) { return 2 * n; }

TEST_P(OffloadTest, ServesCoroutines) {
  const Result<int> result = runtime().run([]() -> Task<Result<int>> {
    const Result<int> once = co_await offload(twice, 3);
    co_return co_await compute("q", twice, *once);
  });
  EXPECT_EQ(result, 12);
}

TEST_P(OffloadTest, LeavesTheWorkerToOthersMeanwhile) {
  testing::Gate gate;
  const bool is_simulated = GetParam() == io::BackendKind::simulated;
  runtime().run([&] {
    Scope scope;
    bool came_back = false;
    scope.spawn([&] {
      wait(offload([&] {
        if (!is_simulated) gate.pass();
      }));
      came_back = true;
    });
    for (int i = 0; i < 3; ++i) wait(yield());
    EXPECT_FALSE(came_back);
    gate.open();
    wait(scope.join());
    EXPECT_TRUE(came_back);
  });
}

TEST_P(OffloadTest, NamesAFullQueue) {
  testing::Gate gate;
  const bool is_simulated = GetParam() == io::BackendKind::simulated;
  runtime().run([&] {
    Scope scope;
    int refused = 0;
    for (int i = 0; i < 5; ++i) {
      scope.spawn([&, i] {
        const auto hold = [&] {
          if (!is_simulated) gate.pass();
        };
        Result<void> ended = wait(compute("narrow", hold));
        if (!ended) {
          ++refused;
          EXPECT_EQ(ended.error().code(), Errc::limit_reached);
          EXPECT_EQ(ended.error().doing(), "queue for computing on 'narrow' (2 jobs wait)");
        }
        if (!is_simulated && i < 2) return;
      });
      wait(yield());
      if (!is_simulated && i < 2) gate.await(i + 1);
    }
    EXPECT_EQ(refused, 1);
    gate.open();
    wait(scope.join());
  });
}

TEST_P(OffloadTest, CancelsWhatHasNotBegunAndWaitsForWhatHas) {
  testing::Gate gate;
  const bool is_simulated = GetParam() == io::BackendKind::simulated;
  runtime().run([&] {
    Scope scope;
    int ended = 0, ran = 0;
    std::vector<Activity*> activities;
    const auto hold = [&] {
      if (!is_simulated) gate.pass();
    };
    for (int i = 0; i < 3; ++i) {
      scope.spawn([&, i] {
        activities.push_back(&Activity::here());
        if (i < 2) {
          EXPECT_TRUE(wait(offload(hold)).has_value()) << "it had begun";
        } else {
          const Result<void> result = wait(offload([&] { ++ran; }));
          ASSERT_FALSE(result.has_value());
          EXPECT_EQ(result.error().code(), Errc::cancelled);
        }
        ++ended;
      });
      wait(yield());
      if (!is_simulated && i < 2) gate.await(i + 1);
    }
    for (Activity* const activity : activities) activity->cancel();
    gate.open();
    wait(scope.join());
    EXPECT_EQ(ended, 3);
    EXPECT_EQ(ran, 0);
  });
}

SENNIT_FOR_EACH_BACKEND_AND_SIMULATED(OffloadTest);

// Jobs of both kinds from several workers: every result comes back to who asked, in every order.
TEST(OffloadSimulation, BringsEachResultToWhoAskedUnderManySeeds) {
  std::vector<std::uint64_t> hashes;
  testing::for_each_seed(500, [&](std::uint64_t seed) {
    testing::Simulation sim({.seed = seed});
    sim.run([] {
      Scope scope;
      for (int i = 0; i < 10; ++i) {
        scope.spawn([i]() -> Task<> {
          const Result<int> slow = co_await offload(twice, i);
          EXPECT_EQ(slow, 2 * i);
          const Result<int> hard = co_await compute(i % 2 == 0 ? "even" : "odd", twice, *slow);
          EXPECT_EQ(hard, 4 * i);
        });
      }
      wait(scope.join());
    });
    hashes.push_back(sim.trace_hash());
  });
  std::ranges::sort(hashes);
  EXPECT_TRUE(std::ranges::adjacent_find(hashes) == hashes.end()) << "each seed its own order";
}

}  // namespace
}  // namespace sennit::runtime
