#include "sennit/runtime/blocking_pool.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sennit/runtime/detail/testing/gate.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;
using testing::FunctionPoolJob;
using testing::Gate;

using PoolJobs = std::vector<std::unique_ptr<FunctionPoolJob>>;

TEST(BlockingPool, RefusesWhatItsQueueHasNoRoomFor) {
  Gate gate;
  FunctionPoolJob running([&] { gate.pass(); }), waiting([&] { gate.pass(); }), refused([] {});
  {
    BlockingPool pool({.threads_max = 1, .queue_max = 1});
    ASSERT_TRUE(pool.submit(running).has_value());
    gate.await(1);
    ASSERT_TRUE(pool.submit(waiting).has_value());
    const auto no = pool.submit(refused);
    ASSERT_FALSE(no.has_value());
    EXPECT_EQ(no.error().code(), Errc::limit_reached);
    EXPECT_EQ(pool.queued_count(), 1U);
    gate.open();
  }
  EXPECT_EQ(gate.arrived(), 2);
}

TEST(BlockingPool, GrowsWhileAllItsThreadsAreBusyUpToItsLimit) {
  Gate gate;
  PoolJobs jobs;
  BlockingPool pool({.threads_max = 3});
  EXPECT_EQ(pool.thread_count(), 0U);
  for (int i = 0; i < 5; ++i) {
    jobs.push_back(std::make_unique<FunctionPoolJob>([&] { gate.pass(); }));
    ASSERT_TRUE(pool.submit(*jobs.back()).has_value());
  }
  gate.await(3);
  EXPECT_EQ(pool.thread_count(), 3U);
  EXPECT_EQ(pool.queued_count(), 2U);
  gate.open();
  gate.await(5);
}

TEST(BlockingPool, ShrinksWhenThereIsNothingToDoAndGrowsAgain) {
  BlockingPool pool({.threads_max = 4, .idle_max = 1ms});
  for (int round = 0; round < 3; ++round) {
    Gate gate;
    PoolJobs jobs;
    for (int i = 0; i < 4; ++i) {
      jobs.push_back(std::make_unique<FunctionPoolJob>([&] { gate.pass(); }));
      ASSERT_TRUE(pool.submit(*jobs.back()).has_value());
    }
    gate.await(4);
    gate.open();
    for (int i = 0; i < 120'000 && pool.thread_count() > 0; ++i) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(pool.thread_count(), 0U);
  }
}

TEST(BlockingPool, CancelsWhatHasNotBegun) {
  Gate gate;
  bool ran = false;
  FunctionPoolJob running([&] { gate.pass(); }), waiting([&] { ran = true; });
  {
    BlockingPool pool({.threads_max = 1});
    ASSERT_TRUE(pool.submit(running).has_value());
    gate.await(1);
    ASSERT_TRUE(pool.submit(waiting).has_value());
    EXPECT_FALSE(pool.cancel(running));
    EXPECT_TRUE(pool.cancel(waiting));
    EXPECT_FALSE(pool.cancel(waiting));
    gate.open();
  }
  EXPECT_FALSE(ran);
}

TEST(BlockingPool, RunsEveryJobOnceHoweverManySubmit) {
  constexpr int threads = 4, each = 500;
  std::atomic<int> ran = 0;
  std::vector<PoolJobs> jobs(threads);
  {
    BlockingPool pool({.threads_max = 3, .idle_max = 1ms});
    std::vector<std::jthread> submitters;
    for (int thread = 0; thread < threads; ++thread) {
      submitters.emplace_back([&, thread] {
        for (int i = 0; i < each; ++i) {
          jobs[thread].push_back(std::make_unique<FunctionPoolJob>([&] { ++ran; }));
          ASSERT_TRUE(pool.submit(*jobs[thread].back()).has_value());
        }
      });
    }
  }
  EXPECT_EQ(ran, threads * each);
}

TEST(BlockingPool, RunsInAnOrderOfTheSeedInASimulation) {
  const auto order = [](std::uint64_t seed) {
    simulated::Kernel kernel({.seed = seed});
    BlockingPool pool({.threads_max = 4}, &kernel);
    std::string ran;
    PoolJobs jobs;
    for (char name = 'a'; name <= 'h'; ++name) {
      jobs.push_back(std::make_unique<FunctionPoolJob>([&ran, name] { ran += name; }));
      EXPECT_TRUE(pool.submit(*jobs.back()).has_value());
    }
    EXPECT_EQ(ran, "") << "each takes its time";
    EXPECT_FALSE(pool.cancel(*jobs.front()));
    EXPECT_TRUE(pool.cancel(*jobs.back()));
    kernel.run_until([&] { return ran.size() == 7; });
    return ran;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

}  // namespace
}  // namespace sennit::runtime
