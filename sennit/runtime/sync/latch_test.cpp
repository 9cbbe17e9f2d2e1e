#include "sennit/runtime/sync/latch.hpp"

#include <gtest/gtest.h>
#include <memory>

#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using LatchStarted = testing::Started<Latch::Wait>;

TEST(Latch, LetsAllGoOnceTheCountIsZero) {
  Latch latch(3);
  LatchStarted first(latch.wait()), second(latch.wait());
  latch.count_down();
  EXPECT_EQ(latch.count(), 2U);
  EXPECT_EQ(first.wakes(), 0);
  latch.count_down(2);
  for (LatchStarted* waited : {&first, &second}) {
    EXPECT_EQ(waited->wakes(), 1);
    EXPECT_TRUE(waited->take().has_value());
  }
  LatchStarted later(latch.wait());
  EXPECT_FALSE(later.waits);
  LatchStarted at_once(Latch(0).wait());
  EXPECT_FALSE(at_once.waits);
}

TEST(Latch, CancelledBeforeAndAfterTheLastCount) {
  Latch latch(1);
  LatchStarted before(latch.wait()), after(latch.wait());
  before.cancel();
  EXPECT_EQ(before.wakes(), 1);
  EXPECT_EQ(before.take().error().code(), Errc::cancelled);
  latch.count_down();
  after.cancel();
  EXPECT_EQ(after.wakes(), 1);
  EXPECT_TRUE(after.take().has_value());
}

TEST(LatchDeathTest, StopsAtMisuse) {
  EXPECT_DEATH(Latch(1).count_down(2), "counted below zero");
  const auto destroy_awaited = [] {
    auto awaited = std::make_unique<Latch>(1U);
    LatchStarted wait(awaited->wait());
    awaited.reset();
  };
  EXPECT_DEATH(destroy_awaited(), "while somebody waits for it");
}

class LatchAcross : public testing::BackendTest {};

TEST_P(LatchAcross, WaitsForAllKindsAndMayThenBeDestroyed) {
  for (int round = 0; round < testing::scaled(100); ++round) {
    for (const auto kind : testing::party_kinds) {
      auto latch = std::make_unique<Latch>(5U);
      int plain[5] = {};
      std::atomic<int> number = 0;
      testing::Parties parties(runtime());
      parties.add(kind, 1, [&](auto as) -> decltype(as) {
        EXPECT_TRUE(testing::succeeded(co_await latch->wait()));
        latch.reset();
        for (const int each : plain) EXPECT_EQ(each, 1);
      });
      parties.add_all([&, &counted = *latch](auto as) -> decltype(as) {
        ++plain[number++];
        counted.count_down();
        co_return;
      });
      parties.join();
    }
  }
}

SENNIT_FOR_EACH_BACKEND(LatchAcross);

}  // namespace
}  // namespace sennit::runtime
