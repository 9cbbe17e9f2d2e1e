#include "sennit/runtime/sync/shared_mutex.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>

#include "sennit/base/random.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using SharedStarted = testing::Started<SharedMutex::Lock>;

TEST(SharedMutex, AdmitsManyReadersOrOneWriter) {
  SharedMutex mutex;
  EXPECT_TRUE(mutex.try_lock_shared());
  {
    SharedStarted reader(mutex.lock_shared());
    ASSERT_FALSE(reader.waits);
    auto guard = reader.take();
    EXPECT_FALSE(mutex.try_lock());
  }
  mutex.unlock_shared();
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock_shared());
  mutex.unlock();
}

TEST(SharedMutex, StarvesNeitherWritersNorReaders) {
  SharedMutex mutex;
  ASSERT_TRUE(mutex.try_lock_shared());
  SharedStarted writer(mutex.lock()), first(mutex.lock_shared()), second(mutex.lock_shared()),
      last(mutex.lock()), third(mutex.lock_shared());
  EXPECT_FALSE(mutex.try_lock_shared()) << "a writer waits";
  EXPECT_TRUE(first.waits);
  mutex.unlock_shared();
  EXPECT_EQ(writer.wakes(), 1);
  EXPECT_EQ(first.wakes(), 0);
  mutex.unlock();
  EXPECT_EQ(first.wakes() + second.wakes(), 2) << "readers side by side go in together";
  EXPECT_EQ(last.wakes() + third.wakes(), 0);
  mutex.unlock_shared();
  EXPECT_EQ(last.wakes(), 0) << "one still reads";
  mutex.unlock_shared();
  EXPECT_EQ(last.wakes(), 1);
  EXPECT_EQ(third.wakes(), 0);
  mutex.unlock();
  EXPECT_EQ(third.wakes(), 1);
  mutex.unlock_shared();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(SharedMutex, CancelledWriterLetsTheReadersBehindItIn) {
  SharedMutex mutex;
  ASSERT_TRUE(mutex.try_lock_shared());
  SharedStarted writer(mutex.lock()), reader(mutex.lock_shared());
  writer.cancel();
  EXPECT_EQ(writer.wakes(), 1);
  EXPECT_EQ(writer.take().error().code(), Errc::cancelled);
  EXPECT_EQ(reader.wakes(), 1);
  {
    auto guard = reader.take();
    ASSERT_TRUE(guard.has_value());
    mutex.unlock_shared();
    EXPECT_FALSE(mutex.try_lock());
  }
  EXPECT_TRUE(mutex.try_lock()) << "the guard has let go";
  mutex.unlock();
}

TEST(SharedMutex, CancelledAfterTheHandOverHasTheLock) {
  SharedMutex mutex;
  for (const bool is_shared : {false, true}) {
    ASSERT_TRUE(mutex.try_lock());
    SharedStarted lock(is_shared ? mutex.lock_shared() : mutex.lock());
    mutex.unlock();
    lock.cancel();
    EXPECT_EQ(lock.wakes(), 1);
    auto guard = lock.take();
    ASSERT_TRUE(guard.has_value());
    EXPECT_FALSE(mutex.try_lock());
  }
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(SharedMutexDeathTest, StopsAtMisuse) {
  SharedMutex mutex;
  EXPECT_DEATH(mutex.unlock(), "unlocked that nobody writes");
  EXPECT_DEATH(mutex.unlock_shared(), "unlocked that nobody reads");
  const auto destroy_locked = [] {
    SharedMutex locked;
    (void)locked.try_lock_shared();
  };
  EXPECT_DEATH(destroy_locked(), "while it is locked");
  const auto destroy_awaited = [] {
    auto awaited = std::make_unique<SharedMutex>();
    (void)awaited->try_lock_shared();
    SharedStarted lock(awaited->lock());
    awaited.reset();
  };
  EXPECT_DEATH(destroy_awaited(), "while somebody waits for it");
}

class SharedMutexAcross : public testing::BackendTest {};

TEST_P(SharedMutexAcross, GuardsPlainDataForAllKindsAndWorkers) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  const int rounds = testing::scaled(10'000);
  SharedMutex mutex;
  int first = 0, second = 0;  // Equal, but while one writes.
  std::atomic<int> readers = 0;
  std::atomic<std::uint64_t> number = 0;
  testing::Parties parties(runtime());
  for (int i = 0; i < 2; ++i) {
    parties.add_all([&](auto as) -> decltype(as) {
      Random random(seed + ++number);
      for (int round = 0; round < rounds; ++round) {
        const bool reads = random.below(3) != 0;
        const bool cancels = random.below(4) == 0;
        const auto spins = static_cast<unsigned>(random.below(300));
        if (!reads) {
          auto guard = co_await mutex.lock();
          EXPECT_EQ(readers, 0);
          ++first;
          ++second;
        } else if (cancels) {
          auto guard = co_await testing::CancelSoon(mutex.lock_shared(), spins);
          if (!guard) continue;
          ++readers;
          EXPECT_EQ(first, second);
          --readers;
        } else {
          auto guard = co_await mutex.lock_shared();
          ++readers;
          EXPECT_EQ(first, second);
          --readers;
        }
        if (cancels && !reads) (void)co_await testing::CancelSoon(mutex.lock(), spins);
      }
    });
  }
  parties.join();
  EXPECT_EQ(first, second);
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

SENNIT_FOR_EACH_BACKEND(SharedMutexAcross);

}  // namespace
}  // namespace sennit::runtime
