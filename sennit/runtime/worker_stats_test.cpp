#include "sennit/runtime/worker_stats.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <memory>

#include "sennit/metrics/histogram.hpp"
#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using std::chrono::milliseconds;

class WorkerStatsTest : public testing::ManualWorkerTest {
 protected:
  // The clock moves by this in each turn, as if the worker had been busy for so long.
  void run_for_turns_of(Duration busy, const std::function<void()>& body) {
    stats_ = worker().stats();
    run(body, [this, busy] { clock().advance(busy); });
  }
  [[nodiscard]] metrics::Histogram loop_lag() const {
    metrics::Histogram lag(stats_->loop_lag_ns.options());
    stats_->loop_lag_ns.add_to(lag);
    return lag;
  }

  std::shared_ptr<const WorkerStats> stats_;
};

TEST_F(WorkerStatsTest, CountTurnsAndJobs) {
  run_for_turns_of(Duration::zero(), [&] {
    const auto turns = stats_->turns.get();
    const auto jobs = stats_->jobs.get();
    for (int i = 0; i < 10; ++i) static_cast<void>(wait(yield()));
    EXPECT_EQ(stats_->turns.get(), turns + 10);
    EXPECT_EQ(stats_->jobs.get(), jobs + 20);  // This fiber, and who moves the clock.
    EXPECT_EQ(stats_->ready_jobs.get(), 2U);
  });
}

TEST_F(WorkerStatsTest, ShowTheFibersThatWait) {
  run_for_turns_of(Duration::zero(), [&] {
    Scope scope;
    for (int i = 0; i < 5; ++i) {
      scope.spawn([] {
        for (int j = 0; j < 3; ++j) static_cast<void>(wait(yield()));
      });
    }
    for (int i = 0; i < 2; ++i) static_cast<void>(wait(yield()));
    EXPECT_EQ(stats_->busy_fibers.get(), 6U);
    EXPECT_GE(stats_->ready_jobs.get(), 6U);
    static_cast<void>(wait(scope.join()));
    static_cast<void>(wait(yield()));
    EXPECT_EQ(stats_->busy_fibers.get(), 1U);
  });
}

// A job that is ready waits for the turn that goes on, here 3 ms long.
TEST_F(WorkerStatsTest, SampleTheLagOfTheLoop) {
  run_for_turns_of(milliseconds(3), [&] {
    for (int i = 0; i < 100; ++i) static_cast<void>(wait(yield()));
  });
  const metrics::Histogram lag = loop_lag();
  EXPECT_GE(lag.count(), 20U);  // Of 300 ms, one in every 12.
  EXPECT_LE(lag.count(), 30U);
  EXPECT_LE(lag.max(), 3'000'000);
  EXPECT_GE(lag.percentile(50), 2'800'000);  // Within the one digit that is kept.
}

TEST_F(WorkerStatsTest, SampleNothingBeforeTheirTime) {
  run_for_turns_of(Duration::zero(), [&] {
    for (int i = 0; i < 100; ++i) static_cast<void>(wait(yield()));
  });
  EXPECT_EQ(loop_lag().count(), 0U);
  EXPECT_EQ(stats_->stacks_on_loan.get(), 0U);
}

TEST_F(WorkerStatsTest, ShowStacksAndProcessorTimeNowAndThen) {
  run_for_turns_of(milliseconds(3), [&] {
    for (int i = 0; i < 10; ++i) static_cast<void>(wait(yield()));
    EXPECT_EQ(stats_->stacks_on_loan.get(), 1U);
    EXPECT_GT(stats_->cpu_ns.get(), 0);
    EXPECT_EQ(stats_->ring_submissions_max.get(), 0U);  // epoll has no rings.
  });
}

TEST_F(WorkerStatsTest, AreReadableAfterTheWorkerHasEnded) {
  run_for_turns_of(Duration::zero(), [] {});
  EXPECT_GT(stats_->turns.get(), 0U);  // run() has destroyed the worker.
}

TEST(ThreadCpuTime, GrowsWithWork) {
  const Duration before = thread_cpu_time();
  while (thread_cpu_time() == before) continue;
  EXPECT_GT(thread_cpu_time(), before);
}

}  // namespace
}  // namespace sennit::runtime
