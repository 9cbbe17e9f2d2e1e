#include "sennit/fiber/detail/guarded_regions.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <vector>

namespace sennit::fiber::detail {
namespace {

class GuardedRegionTest : public ::testing::Test {
 protected:
  // Three times [100 of guard][900 usable]; nothing is accessed.
  RegionShape shape() {
    return {.begin = memory_.data(),
            .bytes = 3000,
            .stride = 1000,
            .guard_bytes = 100,
            .usable_bytes = 900};
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(4000);
};

TEST_F(GuardedRegionTest, TellsGuardsFromStacks) {
  const GuardedRegion region(shape());
  struct Case {
    std::ptrdiff_t offset, low;
    bool is_guard;
  };
  for (const auto& [offset, low, is_guard] : {
           Case{0, 100, true},
           Case{99, 100, true},
           Case{100, 100, false},
           Case{999, 100, false},
           Case{1000, 1100, true},
           Case{2099, 2100, true},
           Case{2999, 2100, false},
       }) {
    SCOPED_TRACE(offset);
    const auto found = GuardedRegion::find(memory_.data() + offset);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->low, memory_.data() + low);
    EXPECT_EQ(found->usable_bytes, 900U);
    EXPECT_EQ(found->is_guard, is_guard);
  }
  EXPECT_FALSE(GuardedRegion::find(memory_.data() + 3000).has_value());
  EXPECT_FALSE(GuardedRegion::find(nullptr).has_value());
}

TEST_F(GuardedRegionTest, IsForgottenWhenItDies) {
  for (int round = 0; round < 3; ++round) {
    {
      const GuardedRegion region(shape());
      EXPECT_TRUE(GuardedRegion::find(memory_.data()).has_value());
    }
    EXPECT_FALSE(GuardedRegion::find(memory_.data()).has_value());
  }
}

}  // namespace
}  // namespace sennit::fiber::detail
