#include "sennit/runtime/sync/semaphore.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <optional>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using AcquireStarted = testing::Started<Semaphore::Acquire>;

TEST(Semaphore, GivesPermitsUntilNoneAreLeft) {
  Semaphore semaphore(2);
  EXPECT_EQ(semaphore.available(), 2U);
  EXPECT_TRUE(semaphore.try_acquire());
  AcquireStarted second(semaphore.acquire());
  EXPECT_FALSE(second.waits);
  EXPECT_TRUE(second.take().has_value());
  EXPECT_FALSE(semaphore.try_acquire());
  AcquireStarted third(semaphore.acquire());
  EXPECT_TRUE(third.waits);
  semaphore.release();
  EXPECT_EQ(third.wakes(), 1);
  EXPECT_EQ(semaphore.available(), 0U) << "it was handed over";
  semaphore.release(5);
  EXPECT_EQ(semaphore.available(), 5U);
}

TEST(Semaphore, DoesNotStarveWhoWantsMany) {
  Semaphore semaphore(1);
  AcquireStarted many(semaphore.acquire(3)), one(semaphore.acquire());
  EXPECT_TRUE(many.waits);
  EXPECT_TRUE(one.waits) << "although there is one";
  EXPECT_FALSE(semaphore.try_acquire());
  semaphore.release();
  EXPECT_EQ(many.wakes(), 0);
  semaphore.release(2);
  EXPECT_EQ(many.wakes(), 1);
  EXPECT_EQ(one.wakes(), 1);
  EXPECT_EQ(semaphore.available(), 0U);
}

TEST(Semaphore, CancelledBeforeTheHandOverLetsThoseBehindGoOn) {
  Semaphore semaphore(1);
  AcquireStarted many(semaphore.acquire(3)), one(semaphore.acquire());
  many.cancel();
  EXPECT_EQ(many.wakes(), 1);
  EXPECT_EQ(many.take().error().code(), Errc::cancelled);
  EXPECT_EQ(one.wakes(), 1);
  EXPECT_TRUE(one.take().has_value());
  EXPECT_EQ(semaphore.available(), 0U);
}

TEST(Semaphore, CancelledAfterTheHandOverHasThePermit) {
  Semaphore semaphore(0);
  AcquireStarted late(semaphore.acquire());
  semaphore.release();
  late.cancel();
  EXPECT_EQ(late.wakes(), 1);
  EXPECT_TRUE(late.take().has_value());
  EXPECT_EQ(semaphore.available(), 0U);
}

TEST(SemaphoreDeathTest, StopsAtMisuse) {
  EXPECT_DEATH(Semaphore(Semaphore::permits_max + 1), "permits <= permits_max");
  Semaphore full(Semaphore::permits_max);
  EXPECT_DEATH(full.release(), "permits <= permits_max");
  const auto destroy_awaited = [] {
    auto awaited = std::make_unique<Semaphore>(0U);
    AcquireStarted acquire(awaited->acquire());
    awaited.reset();
  };
  EXPECT_DEATH(destroy_awaited(), "while somebody waits for it");
}

/// What a Semaphore does, in the simplest way, one call at a time.
class SemaphoreModel {
 public:
  explicit SemaphoreModel(std::uint64_t permits) : permits_(permits) {}
  void want(int who, std::uint64_t permits) {
    queue_.push_back({who, permits});
    serve();
  }
  void release(std::uint64_t permits) {
    permits_ += permits;
    serve();
  }
  void leave(int who) {
    std::erase_if(queue_, [&](const auto& each) { return each.first == who; });
    serve();
  }
  [[nodiscard]] bool has(int who) const {
    for (const auto& each : queue_) {
      if (each.first == who) return false;
    }
    return true;
  }
  [[nodiscard]] std::uint64_t permits() const { return permits_; }

 private:
  void serve() {
    while (!queue_.empty() && queue_.front().second <= permits_) {
      permits_ -= queue_.front().second;
      queue_.erase(queue_.begin());
    }
  }
  std::uint64_t permits_;
  std::vector<std::pair<int, std::uint64_t>> queue_;
};

TEST(Semaphore, DoesWhatItsModelDoes) {
  const std::uint64_t seed = testing::test_seed();
  for (std::uint64_t run = 0; run < 200; ++run) {
    SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed << " run " << run);
    Random random(seed * 1000 + run);
    Semaphore semaphore(2);
    SemaphoreModel model(2);
    std::vector<std::unique_ptr<AcquireStarted>> all;
    std::vector<bool> cancelled;
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t permits = random.below(4);
      const auto kind = random.below(3);
      if (kind == 0) {
        model.want(static_cast<int>(all.size()), permits);
        all.push_back(std::make_unique<AcquireStarted>(semaphore.acquire(permits)));
        cancelled.push_back(false);
      } else if (kind == 1) {
        semaphore.release(permits);
        model.release(permits);
      } else if (!all.empty()) {
        const auto who = random.below(all.size());
        if (all[who]->waits) all[who]->cancel();
        if (!model.has(static_cast<int>(who))) cancelled[who] = true;
        model.leave(static_cast<int>(who));
      }
      ASSERT_EQ(semaphore.available(), model.permits());
      for (std::size_t who = 0; who < all.size(); ++who) {
        const bool is_done = !all[who]->waits || all[who]->wakes() == 1;
        ASSERT_EQ(is_done, model.has(static_cast<int>(who)) || cancelled[who]) << who;
      }
    }
    for (std::size_t who = 0; who < all.size(); ++who) {
      if (all[who]->waits && all[who]->wakes() == 0) all[who]->cancel();
    }
  }
}

class SemaphoreAcross : public testing::BackendTest {};

TEST_P(SemaphoreAcross, NeverGivesMoreThanItHasAndLosesNone) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  const int rounds = testing::scaled(10'000);
  constexpr std::uint64_t room = 3;
  Semaphore semaphore(room);
  std::atomic<std::uint64_t> inside = 0, number = 0;
  testing::Parties parties(runtime());
  for (int i = 0; i < 2; ++i) {
    parties.add_all([&](auto as) -> decltype(as) {
      Random random(seed + ++number);
      for (int round = 0; round < rounds; ++round) {
        const auto permits = 1 + random.below(room);
        const bool cancels = random.below(3) == 0;
        const auto spins = static_cast<unsigned>(random.below(300));
        bool has = true;
        if (cancels) {
          has = testing::succeeded(co_await testing::CancelSoon(semaphore.acquire(permits), spins));
        } else {
          has = testing::succeeded(co_await semaphore.acquire(permits));
          EXPECT_TRUE(has);
        }
        if (!has) continue;
        EXPECT_LE(inside += permits, room);
        inside -= permits;
        semaphore.release(permits);
      }
    });
  }
  parties.join();
  EXPECT_EQ(semaphore.available(), room);
}

SENNIT_FOR_EACH_BACKEND(SemaphoreAcross);

}  // namespace
}  // namespace sennit::runtime
