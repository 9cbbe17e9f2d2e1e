#include "sennit/runtime/sync/detail/wait_list.hpp"

#include <gtest/gtest.h>

#include "sennit/runtime/sync/detail/testing/waiters.hpp"

namespace sennit::runtime::detail {
namespace {

TEST(WaitList, EndsEachWaitOnce) {
  testing::CountingWaiter waiter;
  WaitList list;
  WaitNode first, second;
  list.push(first, waiter);
  list.push(second, waiter);
  EXPECT_EQ(&list.front(), &first);
  EXPECT_TRUE(list.cancel(first));
  EXPECT_FALSE(list.cancel(first));
  EXPECT_EQ(&list.pop(WaitState::granted), &second);
  EXPECT_FALSE(list.cancel(second)) << "it was granted";
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(first.state, WaitState::cancelled);
  EXPECT_EQ(second.state, WaitState::granted);
}

TEST(WaitList, WakesEachOnceWhateverBecomesOfTheNodes) {
  testing::CountingWaiter waiters[3];
  WaitList list;
  WakeList woken;
  {
    WaitNode nodes[3];
    for (int i = 0; i < 3; ++i) list.push(nodes[i], waiters[i]);
    woken.move_all(list, WaitState::closed);
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(waiters[0].wakes(), 0);
    woken.wake();
  }
  for (auto& waiter : waiters) EXPECT_EQ(waiter.wakes(), 1);
}

TEST(WaitListOutcome, SaysWhyNothingWasGot) {
  WaitNode node;
  node.state = WaitState::granted;
  EXPECT_TRUE(outcome(node, "x").has_value());
  node.state = WaitState::cancelled;
  EXPECT_EQ(outcome(node, "x").error().code(), Errc::cancelled);
  node.state = WaitState::closed;
  EXPECT_EQ(outcome(node, "x").error().to_string(), Error(Errc::closed, "x").to_string());
  EXPECT_DEATH((void)outcome(WaitNode(), "x"), "after ready.. or the wake-up");
}

}  // namespace
}  // namespace sennit::runtime::detail
