#include "sennit/fiber/stack_allocator.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <set>
#include <span>
#include <vector>

namespace sennit::fiber {
namespace {

constexpr std::size_t allocator_test_bytes = std::size_t{16} * 1024;

TEST(MallocStacks, AreWritableFromEndToEnd) {
  MallocStacks stacks;
  std::array<std::byte*, 4> room{};
  const auto made = stacks.allocate(allocator_test_bytes, room);
  ASSERT_TRUE(made.has_value());
  for (std::size_t i = 0; i < *made; ++i) std::memset(room[i], 1, allocator_test_bytes);
  stacks.deallocate(allocator_test_bytes, std::span(room).first(*made));
}

TEST(CallerStacks, AreCutFromTheCallersMemoryUntilItIsUsedUp) {
  std::vector<std::byte> memory(3 * allocator_test_bytes + 64);  // Less what alignment takes.
  CallerStacks stacks(memory, allocator_test_bytes);
  std::set<std::byte*> seen;
  std::array<std::byte*, 1> room{};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(stacks.allocate(allocator_test_bytes, room).has_value());
    EXPECT_GE(room[0], memory.data());
    EXPECT_LE(room[0] + allocator_test_bytes, memory.data() + memory.size());
    std::memset(room[0], 1, allocator_test_bytes);
    seen.insert(room[0]);
  }
  EXPECT_EQ(seen.size(), 3U);
  const auto refused = stacks.allocate(allocator_test_bytes, room);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::limit_reached);
  stacks.deallocate(allocator_test_bytes, room);
  EXPECT_TRUE(stacks.allocate(allocator_test_bytes, room).has_value());
}

TEST(CallerStacks, RefuseAnotherSizeAndMemoryThatIsTooSmall) {
  std::vector<std::byte> memory(2 * allocator_test_bytes);
  std::array<std::byte*, 1> room{};
  CallerStacks stacks(memory, allocator_test_bytes);
  EXPECT_FALSE(stacks.allocate(2 * allocator_test_bytes, room).has_value());
  CallerStacks none(std::span<std::byte>(memory).first(100), allocator_test_bytes);
  EXPECT_FALSE(none.allocate(allocator_test_bytes, room).has_value());
}

}  // namespace
}  // namespace sennit::fiber
