#include "sennit/runtime/shield.hpp"

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

class ShieldTest : public testing::ManualWorkerTest {};

struct ReadyAtOnce {
  bool ready() { return true; }
  bool start(Waiter&) { return false; }
  int take() { return 3; }
};
struct ReadyAtStart : ReadyAtOnce {
  bool ready() { return false; }
};

TEST_F(ShieldTest, IsLeftAgainWhetherOrNotItWaited) {
  run([] {
    Activity& self = Activity::here();
    EXPECT_EQ(wait(shield(ReadyAtOnce())), 3);
    EXPECT_EQ(wait(shield(ReadyAtStart())), 3);
    EXPECT_TRUE(wait(shield(yield())).has_value());
    self.cancel();
    EXPECT_TRUE(self.is_cancelled());
    EXPECT_FALSE(wait(sleep_for(1h)).has_value());
    EXPECT_TRUE(wait(shield(yield())).has_value()) << "a shield works after the request, too";
    EXPECT_TRUE(wait(shield(shield(yield()))).has_value());
    EXPECT_FALSE(wait(yield()).has_value());
  });
}

TEST_F(ShieldTest, HoldsInsideACoroutine) {
  run([] {
    const auto body = []() -> Task<> {
      Activity::here().cancel();
      const Result<void> shielded = co_await shield(yield());
      EXPECT_TRUE(shielded.has_value());
      const Result<void> bare = co_await yield();
      EXPECT_FALSE(bare.has_value());
    };
    wait(body());
  });
}

}  // namespace
}  // namespace sennit::runtime
