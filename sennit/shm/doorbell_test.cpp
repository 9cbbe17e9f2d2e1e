#include "sennit/shm/doorbell.hpp"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace sennit::shm {
namespace {

class CountingDoorbell final : public Doorbell {
 public:
  void sleep_on(const std::atomic<std::uint32_t>&, std::uint32_t, Duration at_most) override {
    ++sleeps;
    longest = std::max(longest, at_most);
    if (on_sleep != nullptr) on_sleep->store(true);
  }
  void ring(std::atomic<std::uint32_t>&) override { ++rings; }
  int sleeps = 0;
  int rings = 0;
  Duration longest{};
  std::atomic<bool>* on_sleep = nullptr;
};

TEST(DoorbellTest, RingsOnlyForWhoHasAnnouncedItselfAndOnce) {
  WaitWord word{};
  CountingDoorbell bell;
  word.notify(bell);
  EXPECT_EQ(bell.rings, 0);
  word.announce();
  word.notify(bell);
  word.notify(bell);
  EXPECT_EQ(bell.rings, 1);
  word.announce();
  word.retract();
  word.notify(bell);
  EXPECT_EQ(bell.rings, 1);
}

TEST(DoorbellTest, ASleeperLooksAgainThoughNobodyRings) {
  // As if the other side had been killed between publishing and ringing.
  WaitWord word{};
  CountingDoorbell bell;
  std::atomic<bool> published = false;
  bell.on_sleep = &published;
  const RealClock clock;
  EXPECT_TRUE(
      wait_until_ready(word, Deadline::never(), clock, bell, [&] { return published.load(); }));
  EXPECT_EQ(bell.sleeps, 1);
  EXPECT_EQ(bell.longest, sleep_max);
}

TEST(DoorbellTest, EndsAtTheDeadline) {
  WaitWord word{};
  ManualClock clock;
  CountingDoorbell bell;
  const Deadline deadline = Deadline::after(std::chrono::milliseconds(10), clock);
  clock.advance(std::chrono::milliseconds(10));
  EXPECT_FALSE(wait_until_ready(word, deadline, clock, bell, [] { return false; }));
  EXPECT_EQ(bell.sleeps, 0);
  EXPECT_EQ(word.value() & WaitWord::is_waiting, 0u);
}

TEST(DoorbellTest, AFutexWakesAThread) {
  WaitWord first{}, second{};
  std::atomic<int> turns = 0;
  const RealClock clock;
  const Deadline deadline = Deadline::after(std::chrono::seconds(100), clock);
  join_barriers();
  const auto wait_for = [&](WaitWord& word, int turn) {
    return wait_until_ready(word, deadline, clock, futex_doorbell(),
                            [&] { return turns.load() == turn; });
  };
  std::thread other([&] {
    for (int i = 1; i < 200 && wait_for(second, i); i += 2) {
      turns.store(i + 1);
      first.notify(futex_doorbell());
    }
  });
  for (int i = 0; i < 200; i += 2) {
    turns.store(i + 1);
    second.notify(futex_doorbell());
    if (!wait_for(first, i + 2)) break;
  }
  other.join();
  EXPECT_EQ(turns.load(), 200);
}

}  // namespace
}  // namespace sennit::shm
