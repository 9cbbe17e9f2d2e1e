#include "sennit/runtime/sync/mutex.hpp"

#include <gtest/gtest.h>
#include <optional>

#include "sennit/base/random.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using LockStarted = testing::Started<Mutex::Lock>;

TEST(Mutex, IsLockedByOneAtATime) {
  Mutex mutex;
  {
    LockStarted first(mutex.lock());
    ASSERT_FALSE(first.waits);
    auto guard = first.take();
    ASSERT_TRUE(guard.has_value());
    EXPECT_FALSE(mutex.try_lock());
    LockStarted second(mutex.lock());
    EXPECT_TRUE(second.waits);
    EXPECT_EQ(second.wakes(), 0);
    guard->unlock();
    EXPECT_EQ(second.wakes(), 1);
    EXPECT_FALSE(mutex.try_lock()) << "it was handed over, nobody can take it in between";
    EXPECT_TRUE(second.take().has_value());
  }
  EXPECT_TRUE(mutex.try_lock()) << "the guard has unlocked it";
  mutex.unlock();
}

TEST(Mutex, ServesWhoWaitsInOrder) {
  Mutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  LockStarted first(mutex.lock()), second(mutex.lock()), third(mutex.lock());
  for (LockStarted* next : {&first, &second, &third}) {
    EXPECT_EQ(next->wakes(), 0);
    mutex.unlock();
    EXPECT_EQ(next->wakes(), 1);
    EXPECT_EQ(first.wakes() + second.wakes() + third.wakes(),
              next == &first ? 1 : (next == &second ? 2 : 3));
  }
  mutex.unlock();
}

TEST(Mutex, CancelledBeforeTheHandOverLeavesTheQueue) {
  for (const int cancelled : {0, 1, 2}) {
    SCOPED_TRACE(cancelled);
    Mutex mutex;
    ASSERT_TRUE(mutex.try_lock());
    LockStarted locks[] = {LockStarted(mutex.lock()), LockStarted(mutex.lock()),
                           LockStarted(mutex.lock())};
    locks[cancelled].cancel();
    locks[cancelled].cancel();
    EXPECT_EQ(locks[cancelled].wakes(), 1) << "at once, and once";
    const auto outcome = locks[cancelled].take();
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().code(), Errc::cancelled);
    for (int i = 0; i < 3; ++i) {
      if (i == cancelled) continue;
      mutex.unlock();
      EXPECT_EQ(locks[i].wakes(), 1);
    }
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
  }
}

TEST(Mutex, CancelledAfterTheHandOverHasTheLock) {
  Mutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  LockStarted lock(mutex.lock());
  mutex.unlock();
  lock.cancel();
  EXPECT_EQ(lock.wakes(), 1);
  auto guard = lock.take();
  ASSERT_TRUE(guard.has_value()) << "the result wins";
  EXPECT_FALSE(mutex.try_lock());
}

TEST(MutexDeathTest, StopsAtMisuse) {
  Mutex mutex;
  EXPECT_DEATH(mutex.unlock(), "unlocked that is not locked");
  const auto destroy_locked = [] {
    Mutex locked;
    (void)locked.try_lock();
  };
  EXPECT_DEATH(destroy_locked(), "while it is locked");
  const auto destroy_awaited = [] {
    auto awaited = std::make_unique<Mutex>();
    (void)awaited->try_lock();
    LockStarted lock(awaited->lock());
    awaited.reset();
  };
  EXPECT_DEATH(destroy_awaited(), "while somebody waits for it");
  const auto destroy_waiting = [&] {
    (void)mutex.try_lock();
    std::optional<LockStarted> lock(mutex.lock());
    lock.reset();
  };
  EXPECT_DEATH(destroy_waiting(), "an awaitable is destroyed while it waits");
}

class MutexAcross : public testing::BackendTest {};

// Plain data guarded by nothing else: a lock held twice is a wrong sum, and a race that
// ThreadSanitizer reports; a lock that is lost hangs.
TEST_P(MutexAcross, GuardsPlainDataForAllKindsAndWorkers) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  const int rounds = testing::scaled(10'000);
  Mutex mutex;
  std::uint64_t inside = 0, entered = 0, cancelled = 0, number = 0;
  testing::Parties parties(runtime());
  for (int i = 0; i < 2; ++i) {
    parties.add_all([&, mine = ++number](auto as) -> decltype(as) {
      Random random(seed + mine);
      for (int round = 0; round < rounds; ++round) {
        const auto spins = static_cast<unsigned>(random.below(300));
        const bool cancels = random.below(4) == 0;
        if (cancels) {
          auto guard = co_await testing::CancelSoon(mutex.lock(), spins);
          if (!guard) continue;
          EXPECT_EQ(++inside, 1U);
          ++cancelled;
          --inside;
        } else {
          auto guard = co_await mutex.lock();
          EXPECT_TRUE(guard.has_value());
          EXPECT_EQ(++inside, 1U);
          ++entered;
          --inside;
        }
      }
    });
  }
  parties.join();
  EXPECT_GT(entered, 0U);
  EXPECT_LE(entered + cancelled, 10U * static_cast<unsigned>(rounds));
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST_P(MutexAcross, IsHeldWhileOneWaits) {
  Mutex mutex;
  int inside = 0;
  testing::Parties parties(runtime());
  const auto body = [&](auto as) -> decltype(as) {
    for (int round = 0; round < testing::scaled(200); ++round) {
      auto guard = co_await mutex.lock();
      EXPECT_EQ(++inside, 1);
      co_await yield();
      EXPECT_EQ(inside--, 1);
    }
  };
  parties.add_all(body);
  parties.join();
}

SENNIT_FOR_EACH_BACKEND(MutexAcross);

}  // namespace
}  // namespace sennit::runtime
