#include "sennit/runtime/compute_pool.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sennit/runtime/detail/testing/gate.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::runtime {
namespace {

using testing::FunctionPoolJob;
using testing::Gate;

/// Jobs that write their queue's letter down.
class ComputePoolTest : public ::testing::Test {
 protected:
  void submit(ComputePool& pool, std::string_view queue, std::function<void()> function) {
    jobs_.push_back(std::make_unique<FunctionPoolJob>(std::move(function)));
    ASSERT_TRUE(pool.submit(queue, *jobs_.back()).has_value());
  }
  void note(std::string_view text) {
    const std::lock_guard lock(mutex_);
    order_ += text;
  }
  /// On a pool of one thread, which runs them one after the other.
  std::string order_of(ComputePool& pool, const std::vector<std::pair<std::string, int>>& work) {
    Gate& gate = gates_.emplace_back();
    Gate& done = gates_.emplace_back();
    submit(pool, "gate", [&] { gate.pass(); });
    gate.await(1);
    int left = 0;
    for (const auto& [queue, count] : work) left += count;
    std::atomic<int>& remaining = remaining_;
    remaining = left;
    for (const auto& [queue, count] : work) {
      for (int i = 0; i < count; ++i) {
        submit(pool, queue, [&, name = queue] {
          note(name);
          if (--remaining == 0) done.pass();
        });
      }
    }
    gate.open();
    done.await(1);
    done.open();
    return order_;
  }

  std::vector<std::unique_ptr<FunctionPoolJob>> jobs_;
  std::deque<Gate> gates_;  // Which the threads of a pool may be leaving until it ends.
  std::mutex mutex_;
  std::string order_;
  std::atomic<int> remaining_ = 0;
};

TEST_F(ComputePoolTest, NamesTheQueueThatIsFull) {
  Gate gate;
  FunctionPoolJob refused([] {});
  {
    ComputePool pool({.threads = 1, .queues_max = 3});
    submit(pool, "other", [&] { gate.pass(); });
    gate.await(1);
    ASSERT_TRUE(pool.set_queue("small", {.length_max = 1}).has_value());
    submit(pool, "small", [] {});
    EXPECT_EQ(pool.queued_count("small"), 1U);
    const auto full = pool.submit("small", refused);
    ASSERT_FALSE(full.has_value());
    EXPECT_EQ(full.error().code(), Errc::limit_reached);
    EXPECT_EQ(full.error().doing(), "queue for computing on 'small' (1 jobs wait)");
    submit(pool, "third", [] {});
    const auto too_many = pool.submit("fourth", refused);
    ASSERT_FALSE(too_many.has_value());
    EXPECT_EQ(too_many.error().doing(), "add the compute queue 'fourth' to 3 others");
    EXPECT_EQ(pool.queued_count("fourth"), 0U);
    gate.open();
  }
}

TEST_F(ComputePoolTest, ServesItsQueuesInTurnHoweverLongEachIs) {
  ComputePool pool({.threads = 1, .batch_max = 1});
  EXPECT_EQ(order_of(pool, {{"a", 6}, {"b", 2}, {"c", 3}}), "abcabcacaaa");
}

TEST_F(ComputePoolTest, GivesEachQueueItsWeight) {
  ComputePool pool({.threads = 1, .batch_max = 1});
  ASSERT_TRUE(pool.set_queue("a", {.weight = 3}).has_value());
  EXPECT_EQ(order_of(pool, {{"a", 7}, {"b", 3}}), "aaabaaabab");
}

TEST_F(ComputePoolTest, KeepsTheOrderWithinAQueue) {
  Gate gate, done;
  std::atomic<int> remaining = 100;
  std::vector<int> order;
  ComputePool pool({.threads = 1, .batch_max = 4});
  submit(pool, "gate", [&] { gate.pass(); });
  gate.await(1);
  for (int i = 0; i < 100; ++i) {
    submit(pool, "x", [&, i] {
      order.push_back(i);
      if (--remaining == 0) done.pass();
    });
  }
  gate.open();
  done.await(1);
  done.open();
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

// One thread takes a batch and is held up by its first job: the others must get the rest.
TEST_F(ComputePoolTest, LetsIdleThreadsStealWhatAThreadHasTakenWithIt) {
  Gate start, gate;
  std::atomic<int> ran = 0;
  ComputePool pool({.threads = 2, .batch_max = 8});
  for (int i = 0; i < 2; ++i) submit(pool, "start", [&] { start.pass(); });
  start.await(2);
  for (int i = 0; i < 40; ++i) {
    submit(pool, "x", [&, i] {
      if (i == 0) gate.pass();
      ++ran;
    });
  }
  start.open();
  gate.await(1);
  for (int i = 0; i < 120'000 && ran < 39; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(ran, 39) << "all but the one that holds its thread";
  gate.open();
}

TEST_F(ComputePoolTest, CancelsWhatHasNotBegunEvenIfAThreadHasTakenIt) {
  for (const unsigned batch : {1U, 8U}) {
    Gate gate;
    std::atomic<int> ran = 0;
    jobs_.clear();
    {
      ComputePool pool({.threads = 1, .batch_max = batch});
      submit(pool, "x", [&] { gate.pass(); });
      gate.await(1);
      submit(pool, "x", [&] { gate.pass(); });
      for (int i = 0; i < 20; ++i) submit(pool, "x", [&] { ++ran; });
      EXPECT_FALSE(pool.cancel(*jobs_[0]));
      for (int i = 2; i < 12; ++i) EXPECT_TRUE(pool.cancel(*jobs_[i]));
      EXPECT_FALSE(pool.cancel(*jobs_[2]));
      gate.open();
    }
    EXPECT_EQ(ran, 10);
  }
}

TEST_F(ComputePoolTest, RunsEveryJobOnceHoweverSubmitAndCancelRace) {
  constexpr int threads = 3, each = 1000;
  std::atomic<int> ran = 0, cancelled = 0;
  std::vector<std::vector<std::unique_ptr<FunctionPoolJob>>> jobs(threads);
  {
    ComputePool pool({.threads = 3, .batch_max = 4});
    std::vector<std::jthread> submitters;
    for (int thread = 0; thread < threads; ++thread) {
      submitters.emplace_back([&, thread] {
        const std::string queue = "q" + std::to_string(thread);
        for (int i = 0; i < each; ++i) {
          auto& own = jobs[thread];
          own.push_back(std::make_unique<FunctionPoolJob>([&] { ++ran; }));
          ASSERT_TRUE(pool.submit(queue, *own.back()).has_value());
          if (i % 3 == 0 && pool.cancel(*own[own.size() / 2])) ++cancelled;
          if (i % 5 == 0 && pool.cancel(*own.back())) ++cancelled;
        }
      });
    }
  }
  EXPECT_EQ(ran + cancelled, threads * each);
}

TEST_F(ComputePoolTest, RunsInAnOrderOfTheSeedInASimulation) {
  const auto run = [&](std::uint64_t seed) {
    order_.clear();
    simulated::Kernel kernel({.seed = seed});
    ComputePool pool({.threads = 3}, &kernel);
    for (const char* queue : {"a", "b", "c", "a", "b", "c", "a", "b", "c"}) {
      submit(pool, queue, [this, queue] { note(queue); });
    }
    kernel.run_until([&] { return order_.size() == 9; });
    return order_;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

}  // namespace
}  // namespace sennit::runtime
