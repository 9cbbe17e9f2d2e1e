#include "sennit/runtime/sync/event.hpp"

#include <gtest/gtest.h>
#include <memory>

#include "sennit/base/random.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using EventStarted = testing::Started<Event::Wait>;

TEST(Event, WakesAllWhoWaitAndLetsThroughWhoComesLater) {
  Event event;
  EXPECT_FALSE(event.is_set());
  EventStarted first(event.wait()), second(event.wait());
  EXPECT_EQ(first.wakes(), 0);
  event.set();
  event.set();
  EXPECT_TRUE(event.is_set());
  for (EventStarted* waited : {&first, &second}) {
    EXPECT_EQ(waited->wakes(), 1);
    EXPECT_TRUE(waited->take().has_value());
  }
  EventStarted later(event.wait());
  EXPECT_FALSE(later.waits);
  EXPECT_TRUE(later.take().has_value());
}

TEST(Event, IsWaitedForAnewOnceReset) {
  Event event;
  EventStarted before(event.wait());
  event.set();
  event.reset();
  EventStarted after(event.wait());
  EXPECT_EQ(before.wakes(), 1);
  EXPECT_TRUE(before.take().has_value());
  EXPECT_EQ(after.wakes(), 0);
  event.set();
  EXPECT_EQ(after.wakes(), 1);
}

TEST(Event, CancelledBeforeItIsSetWakesOnlyThatOne) {
  Event event;
  EventStarted cancelled(event.wait()), other(event.wait());
  cancelled.cancel();
  cancelled.cancel();
  EXPECT_EQ(cancelled.wakes(), 1);
  EXPECT_EQ(cancelled.take().error().code(), Errc::cancelled);
  EXPECT_EQ(other.wakes(), 0);
  event.set();
  EXPECT_EQ(cancelled.wakes(), 1);
  EXPECT_EQ(other.wakes(), 1);
}

TEST(Event, CancelledAfterItIsSetSucceeds) {
  Event event;
  EventStarted late(event.wait());
  event.set();
  late.cancel();
  EXPECT_EQ(late.wakes(), 1);
  EXPECT_TRUE(late.take().has_value());
}

TEST(EventDeathTest, StopsWhenItIsDestroyedWhileSomebodyWaits) {
  const auto destroy_awaited = [] {
    auto awaited = std::make_unique<Event>();
    EventStarted wait(awaited->wait());
    awaited.reset();
  };
  EXPECT_DEATH(destroy_awaited(), "while somebody waits for it");
}

class EventAcross : public testing::BackendTest {};

// A chain of events, each destroyed as soon as it has been waited for: whoever sets it must be done
// with it by then.
TEST_P(EventAcross, CarriesPlainDataAndMayBeDestroyedAtOnce) {
  const int rounds = testing::scaled(500);
  for (const auto kind : testing::party_kinds) {
    std::vector<std::unique_ptr<Event>> there, back;
    for (int i = 0; i < rounds; ++i) {
      there.push_back(std::make_unique<Event>());
      back.push_back(std::make_unique<Event>());
    }
    int plain = 0;
    testing::Parties parties(runtime());
    parties.add(kind, 0, [&](auto as) -> decltype(as) {
      for (int i = 0; i < rounds; ++i) {
        ++plain;
        there[static_cast<std::size_t>(i)]->set();
        EXPECT_TRUE(testing::succeeded(co_await back[static_cast<std::size_t>(i)]->wait()));
        back[static_cast<std::size_t>(i)].reset();
      }
    });
    parties.add(testing::PartyKind::fiber, 1, [&](auto as) -> decltype(as) {
      for (int i = 0; i < rounds; ++i) {
        EXPECT_TRUE(testing::succeeded(co_await there[static_cast<std::size_t>(i)]->wait()));
        there[static_cast<std::size_t>(i)].reset();
        ++plain;
        back[static_cast<std::size_t>(i)]->set();
      }
    });
    parties.join();
    EXPECT_EQ(plain, 2 * rounds);
  }
}

TEST_P(EventAcross, WakesEveryKindOnEveryWorkerOnce) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  for (int round = 0; round < testing::scaled(50); ++round) {
    Event event;
    std::atomic<int> woken = 0, cancelled = 0, number = 0;
    testing::Parties parties(runtime());
    parties.add_all([&](auto as) -> decltype(as) {
      const auto mine = static_cast<std::uint64_t>(++number);
      Random random(seed + static_cast<std::uint64_t>(round) * 100 + mine);
      const auto spins = static_cast<unsigned>(random.below(5000));
      if (!testing::succeeded(co_await testing::CancelSoon(event.wait(), spins))) ++cancelled;
      EXPECT_TRUE(testing::succeeded(co_await event.wait()));
      ++woken;
    });
    parties.add(testing::PartyKind::thread, 0, [&](auto as) -> decltype(as) {
      event.set();
      co_return;
    });
    parties.join();
    EXPECT_EQ(woken, 5);
  }
}

SENNIT_FOR_EACH_BACKEND(EventAcross);

}  // namespace
}  // namespace sennit::runtime
