#include "sennit/service/pool.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/sleep.hpp"

namespace sennit::service {
namespace {

using namespace std::chrono_literals;

/// Counts itself, and can be told that it is of no more use.
class FakePooled : public Pooled {
 public:
  explicit FakePooled(int i) : id(i) { ++living; }
  ~FakePooled() override { --living; }
  bool start_idling(Pool&) override { return is_usable; }
  void stop_idling() override {}
  const int id;
  bool is_usable = true;
  static inline int living = 0;
};

class PoolTest : public ::testing::Test {
 protected:
  void run(void (*body)()) {
    RuntimeOptions options;
    options.backend = runtime::io::BackendKind::epoll;
    options.stacks.usable_bytes = std::size_t{256} * 1024;
    auto started = Runtime::start(options);
    ASSERT_TRUE(started.has_value());
    FakePooled::living = 0;
    (*started)->run(body);
    EXPECT_EQ(FakePooled::living, 0);
  }
  static Deadline patience() { return Deadline::after(60s, runtime::Worker::here().clock()); }
  /// A lease with a connection; `id` counts for one that is made now.
  static Lease lend(Pool& pool, int id) {
    auto lease = wait(pool.acquire(patience()));
    SENNIT_ASSERT(lease.has_value(), lease.error().to_string());
    if (lease->get() == nullptr) lease->attach(std::make_unique<FakePooled>(id));
    return *std::move(lease);
  }
  static int id_of(const Lease& lease) { return static_cast<FakePooled*>(lease.get())->id; }
};

TEST_F(PoolTest, LendsTheConnectionReturnedLast) {
  run([] {
    Pool pool;
    {
      Lease one = lend(pool, 1), two = lend(pool, 2);
      EXPECT_FALSE(one.is_reused());
      one.give_back();
      two.give_back();
    }
    EXPECT_EQ(pool.idle_count(), 2U);
    Lease again = lend(pool, 3);
    EXPECT_EQ(id_of(again), 2);
    EXPECT_TRUE(again.is_reused());
    EXPECT_EQ(pool.open_count(), 2U);
  });
}

TEST_F(PoolTest, DropsWhatIsNotGivenBackOrOfNoMoreUse) {
  run([] {
    Pool pool;
    {
      Lease dropped = lend(pool, 1);
    }
    EXPECT_EQ(pool.open_count(), 0U);
    {
      Lease broken = lend(pool, 2);
      static_cast<FakePooled*>(broken.get())->is_usable = false;
      broken.give_back();
    }
    EXPECT_EQ(pool.open_count(), 0U);
    EXPECT_EQ(FakePooled::living, 0);
  });
}

TEST_F(PoolTest, MakesCallsWaitInOrderAtItsLimit) {
  run([] {
    Pool pool({.connections_max = 1});
    std::vector<int> order;
    Lease held = lend(pool, 1);
    Scope scope;
    for (int i = 0; i < 3; ++i) {
      scope.spawn([&pool, &order, i] {
        Lease lease = lend(pool, 10 + i);
        order.push_back(i);
        wait(yield());
        if (i == 1) return;  // Drops it: the next makes one anew.
        lease.give_back();
      });
    }
    wait(yield());
    wait(yield());
    EXPECT_EQ(pool.waiting_count(), 3U);
    EXPECT_EQ(pool.open_count(), 1U);
    held.give_back();
    wait(scope.join());
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(pool.open_count(), 1U);
  });
}

TEST_F(PoolTest, EndsAWaitAtItsDeadlineOrWhenCancelled) {
  run([] {
    Pool pool({.connections_max = 1});
    Lease held = lend(pool, 1);
    const Clock& clock = runtime::Worker::here().clock();
    const auto late = wait(pool.acquire(Deadline::after(5ms, clock)));
    EXPECT_EQ(late.error().code(), Errc::timed_out);
    auto acquire = pool.acquire(patience());
    Scope scope;
    scope.spawn([&] {
      wait(yield());
      acquire.cancel();
      acquire.cancel();
    });
    EXPECT_EQ(wait(acquire).error().code(), Errc::cancelled);
    wait(scope.join());
    EXPECT_EQ(pool.waiting_count(), 0U);
  });
}

TEST_F(PoolTest, RefusesToQueueMoreThanItsLimit) {
  run([] {
    Pool pool({.connections_max = 1, .waiting_max = 0});
    Lease held = lend(pool, 1);
    EXPECT_EQ(wait(pool.acquire(patience())).error().code(), Errc::limit_reached);
  });
}

TEST_F(PoolTest, LosesNoLeaseThatWasGrantedAndNeverTaken) {
  run([] {
    Pool pool({.connections_max = 1});
    {
      auto acquire = pool.acquire(patience());
      EXPECT_TRUE(acquire.ready());
      EXPECT_EQ(pool.open_count(), 1U);
    }
    EXPECT_EQ(pool.open_count(), 0U);
  });
}

TEST_F(PoolTest, MakesRoomForAFreshConnectionByDroppingAnIdleOne) {
  run([] {
    Pool pool({.connections_max = 1});
    lend(pool, 1).give_back();
    auto fresh = wait(pool.acquire(patience(), true));
    ASSERT_TRUE(fresh.has_value());
    EXPECT_EQ(fresh->get(), nullptr);
    EXPECT_EQ(FakePooled::living, 0);
    EXPECT_EQ(pool.open_count(), 1U);
  });
}

TEST_F(PoolTest, KeepsNoMoreIdleThanItsLimitAndTheFreshestOfThem) {
  run([] {
    Pool pool({.idle_max = 2});
    std::vector<Lease> leases;
    for (int i = 0; i < 5; ++i) leases.push_back(lend(pool, i));
    for (Lease& lease : leases) lease.give_back();
    EXPECT_EQ(pool.idle_count(), 2U);
    EXPECT_EQ(FakePooled::living, 2);
    Lease freshest = lend(pool, 9);
    EXPECT_EQ(id_of(freshest), 4);
    leases.clear();
  });
}

TEST_F(PoolTest, ClosesWhatHasBeenIdleForTooLong) {
  run([] {
    Pool pool({.idle_timeout = 3ms});
    lend(pool, 1).give_back();
    for (int i = 0; i < 10'000 && FakePooled::living > 0; ++i) wait(sleep_for(1ms));
    EXPECT_EQ(FakePooled::living, 0) << "without anybody asking for it";
    EXPECT_EQ(pool.open_count(), 0U);
  });
}

TEST_F(PoolTest, LendsNothingOlderThanItsLimit) {
  run([] {
    Pool pool({.age_max = 1ns});
    Lease lease = lend(pool, 1);
    wait(sleep_for(1ms));
    lease.give_back();
    EXPECT_EQ(FakePooled::living, 0);
  });
}

TEST_F(PoolTest, DiscardsAnIdleConnectionThatDied) {
  run([] {
    Pool pool;
    Lease lease = lend(pool, 1);
    Pooled& pooled = *lease.get();
    lease.give_back();
    pool.discard(pooled);
    EXPECT_EQ(pool.idle_count(), 0U);
    EXPECT_EQ(pool.open_count(), 0U);
  });
}

}  // namespace
}  // namespace sennit::service
