#include "sennit/runtime/sync/detail/ring.hpp"

#include <gtest/gtest.h>
#include <memory>

namespace sennit::runtime::detail {
namespace {

TEST(Ring, IsFirstInFirstOutAroundItsEnd) {
  Ring<std::unique_ptr<int>> ring(3);
  int pushed = 0, popped = 0;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i <= round % 3; ++i) ring.push(std::make_unique<int>(pushed++));
    EXPECT_EQ(ring.full(), round % 3 == 2);
    while (!ring.empty()) EXPECT_EQ(*ring.pop(), popped++);
  }
  EXPECT_EQ(pushed, popped);
}

TEST(Ring, DestroysWhatIsLeft) {
  const auto counted = std::make_shared<int>();
  {
    Ring<std::shared_ptr<int>> ring(2);
    ring.push(std::shared_ptr<int>(counted));
    ring.push(std::shared_ptr<int>(counted));
    (void)ring.pop();
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(Ring, MayHaveNoRoomAtAll) {
  Ring<int> none(0);
  EXPECT_TRUE(none.empty() && none.full());
  EXPECT_DEATH(none.push(1), "full");
}

}  // namespace
}  // namespace sennit::runtime::detail
