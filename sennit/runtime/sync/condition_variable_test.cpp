#include "sennit/runtime/sync/condition_variable.hpp"

#include <atomic>
#include <deque>
#include <gtest/gtest.h>
#include <memory>

#include "sennit/base/random.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using ConditionStarted = testing::Started<ConditionVariable::Wait>;

class ConditionTest : public ::testing::Test {
 protected:
  ConditionVariable::Wait locked_wait() {
    EXPECT_TRUE(mutex_.try_lock());
    return condition_.wait(mutex_);
  }
  bool is_locked() {
    if (!mutex_.try_lock()) return true;
    mutex_.unlock();
    return false;
  }
  Mutex mutex_;
  ConditionVariable condition_;
};

TEST_F(ConditionTest, UnlocksWhileItWaitsAndHasTheLockAgainAfterwards) {
  ConditionStarted waiting(locked_wait());
  EXPECT_FALSE(is_locked());
  condition_.notify_one();
  EXPECT_EQ(waiting.wakes(), 1);
  EXPECT_TRUE(is_locked());
  EXPECT_TRUE(waiting.take().has_value());
  mutex_.unlock();
}

TEST_F(ConditionTest, NotifiesOneInOrderOrAllAndRemembersNothing) {
  condition_.notify_one();
  condition_.notify_all();
  ConditionStarted first(locked_wait()), second(locked_wait()), third(locked_wait());
  EXPECT_EQ(first.wakes() + second.wakes() + third.wakes(), 0);
  condition_.notify_one();
  EXPECT_EQ(first.wakes(), 1);
  EXPECT_EQ(second.wakes() + third.wakes(), 0);
  condition_.notify_all();
  EXPECT_EQ(second.wakes() + third.wakes(), 0) << "the first has the lock";
  mutex_.unlock();
  EXPECT_EQ(second.wakes(), 1);
  EXPECT_EQ(third.wakes(), 0);
  mutex_.unlock();
  EXPECT_EQ(third.wakes(), 1);
  mutex_.unlock();
}

TEST_F(ConditionTest, CancelledBeforeItIsNotifiedHasTheLockAgain) {
  ConditionStarted cancelled(locked_wait()), other(locked_wait());
  ASSERT_TRUE(mutex_.try_lock());
  cancelled.cancel();
  cancelled.cancel();
  EXPECT_EQ(cancelled.wakes(), 0) << "not before it can have the lock";
  mutex_.unlock();
  EXPECT_EQ(cancelled.wakes(), 1);
  EXPECT_EQ(cancelled.take().error().code(), Errc::cancelled);
  EXPECT_TRUE(is_locked());
  mutex_.unlock();
  condition_.notify_one();
  EXPECT_EQ(other.wakes(), 1) << "the one who left swallows no notification";
  mutex_.unlock();
}

TEST_F(ConditionTest, CancelledAfterItWasNotifiedSucceeds) {
  ConditionStarted waits_for_lock(locked_wait()), has_lock(locked_wait());
  ASSERT_TRUE(mutex_.try_lock());
  condition_.notify_one();
  waits_for_lock.cancel();
  mutex_.unlock();
  EXPECT_EQ(waits_for_lock.wakes(), 1);
  EXPECT_TRUE(waits_for_lock.take().has_value());
  mutex_.unlock();
  condition_.notify_one();
  has_lock.cancel();
  EXPECT_EQ(has_lock.wakes(), 1);
  EXPECT_TRUE(has_lock.take().has_value());
  mutex_.unlock();
}

using ConditionDeathTest = ConditionTest;

TEST_F(ConditionDeathTest, StopsAtMisuse) {
  const auto wait_without_the_lock = [&] { ConditionStarted waiting(condition_.wait(mutex_)); };
  EXPECT_DEATH(wait_without_the_lock(), "unlocked that is not locked");
  const auto destroy_awaited = [&] {
    auto awaited = std::make_unique<ConditionVariable>();
    (void)mutex_.try_lock();
    ConditionStarted waiting(awaited->wait(mutex_));
    awaited.reset();
  };
  EXPECT_DEATH(destroy_awaited(), "while somebody waits for it");
}

class ConditionAcross : public testing::BackendTest {};

// A bounded queue by hand. A notification that is lost hangs, a lock held twice is a race.
TEST_P(ConditionAcross, LosesNoNotificationBetweenKindsAndWorkers) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  const int rounds = testing::scaled(1000);
  Mutex mutex;
  ConditionVariable not_empty, not_full;
  std::deque<int> queue;
  long sum = 0;
  std::atomic<std::uint64_t> number = 0;
  testing::Parties parties(runtime());
  parties.add_all([&](auto as) -> decltype(as) {
    for (int i = 1; i <= rounds; ++i) {
      auto guard = co_await mutex.lock();
      while (queue.size() >= 2) (void)co_await not_full.wait(mutex);
      queue.push_back(i);
      not_empty.notify_one();
    }
  });
  parties.add_all([&](auto as) -> decltype(as) {
    Random random(seed + ++number);
    for (int i = 1; i <= rounds; ++i) {
      auto guard = co_await mutex.lock();
      while (queue.empty()) {
        const auto spins = static_cast<unsigned>(random.below(300));
        if (random.below(4) == 0) {
          (void)co_await testing::CancelSoon(not_empty.wait(mutex), spins);
        } else {
          (void)co_await not_empty.wait(mutex);
        }
      }
      sum += queue.front();
      queue.pop_front();
      not_full.notify_all();
    }
  });
  parties.join();
  EXPECT_EQ(sum, 5L * rounds * (rounds + 1) / 2);
}

SENNIT_FOR_EACH_BACKEND(ConditionAcross);

}  // namespace
}  // namespace sennit::runtime
