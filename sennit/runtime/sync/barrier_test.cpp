#include "sennit/runtime/sync/barrier.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using ArriveStarted = testing::Started<Barrier::Arrive>;

TEST(Barrier, LetsARoundGoOnceAllHaveArrived) {
  int completed = 0;
  Barrier barrier(3, [&] { ++completed; });
  for (int round = 1; round <= 3; ++round) {
    ArriveStarted first(barrier.arrive_and_wait()), second(barrier.arrive_and_wait());
    EXPECT_EQ(first.wakes() + second.wakes(), 0);
    EXPECT_EQ(completed, round - 1);
    ArriveStarted last(barrier.arrive_and_wait());
    EXPECT_FALSE(last.waits);
    EXPECT_EQ(completed, round);
    EXPECT_EQ(first.wakes(), 1);
    EXPECT_EQ(second.wakes(), 1);
    EXPECT_TRUE(first.take().has_value() && second.take().has_value() && last.take().has_value());
  }
}

TEST(Barrier, GoesOnWithoutWhoDropsOut) {
  Barrier barrier(2);
  ArriveStarted first(barrier.arrive_and_wait());
  barrier.arrive_and_drop();
  EXPECT_EQ(first.wakes(), 1);
  ArriveStarted alone(barrier.arrive_and_wait());
  EXPECT_FALSE(alone.waits);
}

TEST(Barrier, CancelledBeforeTheLastArrivesHasNotArrived) {
  Barrier barrier(2);
  ArriveStarted cancelled(barrier.arrive_and_wait());
  cancelled.cancel();
  cancelled.cancel();
  EXPECT_EQ(cancelled.wakes(), 1);
  EXPECT_EQ(cancelled.take().error().code(), Errc::cancelled);
  ArriveStarted again(barrier.arrive_and_wait());
  EXPECT_TRUE(again.waits) << "one is missing";
  ArriveStarted last(barrier.arrive_and_wait());
  EXPECT_EQ(again.wakes(), 1);
}

TEST(Barrier, CancelledAfterTheLastArrivedSucceeds) {
  ArriveStarted* waiting = nullptr;
  Barrier barrier(2, [&] {
    if (waiting != nullptr) waiting->cancel();
  });
  for (const bool is_cancelled_while_completing : {false, true}) {
    ArriveStarted first(barrier.arrive_and_wait());
    waiting = is_cancelled_while_completing ? &first : nullptr;
    ArriveStarted last(barrier.arrive_and_wait());
    first.cancel();
    EXPECT_EQ(first.wakes(), 1);
    EXPECT_TRUE(first.take().has_value());
  }
}

TEST(BarrierDeathTest, StopsAtMisuse) {
  EXPECT_DEATH(Barrier(0), "needs parties");
  const auto drop_too_many = [] {
    Barrier barrier(1);
    barrier.arrive_and_drop();
    barrier.arrive_and_drop();
  };
  EXPECT_DEATH(drop_too_many(), "than it has parties");
  const auto destroy_awaited = [] {
    auto awaited = std::make_unique<Barrier>(2U);
    ArriveStarted arrive(awaited->arrive_and_wait());
    awaited.reset();
  };
  EXPECT_DEATH(destroy_awaited(), "while somebody waits");
}

class BarrierAcross : public testing::BackendTest {};

TEST_P(BarrierAcross, KeepsAllKindsInStep) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  const int rounds = testing::scaled(1000);
  constexpr std::size_t members = 5;
  std::vector<int> at(members, 0);  // Plain: each written by its member, read by the completion.
  int completed = 0;
  Barrier barrier(members, [&] {
    ++completed;
    for (const int each : at) EXPECT_EQ(each, completed);
  });
  std::atomic<std::size_t> number = 0;
  testing::Parties parties(runtime());
  parties.add_all([&](auto as) -> decltype(as) {
    const std::size_t mine = number++;
    Random random(seed + mine);
    for (int round = 1; round <= rounds; ++round) {
      at[mine] = round;
      bool arrived = false;
      while (!arrived) {
        const auto spins = static_cast<unsigned>(random.below(500));
        const bool cancels = random.below(4) == 0;
        if (cancels) {
          arrived =
              testing::succeeded(co_await testing::CancelSoon(barrier.arrive_and_wait(), spins));
        } else {
          arrived = testing::succeeded(co_await barrier.arrive_and_wait());
        }
      }
      EXPECT_EQ(completed, round);
    }
  });
  parties.join();
  EXPECT_EQ(completed, rounds);
}

SENNIT_FOR_EACH_BACKEND(BarrierAcross);

}  // namespace
}  // namespace sennit::runtime
