#include "sennit/fiber/stack.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "sennit/fiber/detail/pages.hpp"
#include "sennit/fiber/stack_pool.hpp"

namespace sennit::fiber {
namespace {

TEST(Stack, HasItsTopAlignedAndWithin) {
  StackPool pool({});
  for (const std::size_t bytes : {4096, 16384, 65536}) {
    const Stack stack = *pool.acquire(bytes);
    const auto* top = reinterpret_cast<const std::byte*>(stack.top());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(top) % 64, 0U);
    EXPECT_LE(top + sizeof(StackTop), stack.memory().data() + stack.memory().size());
    EXPECT_GE(top, stack.memory().data() + 2048);
  }
}

TEST(Stack, HasItsTopAtADifferentPlaceOfThePageThanItsNeighbours) {
  StackPool pool({});
  std::vector<Stack> stacks;
  std::set<std::uintptr_t> places;
  for (int i = 0; i < 64; ++i) {
    stacks.push_back(*pool.acquire());
    places.insert(reinterpret_cast<std::uintptr_t>(stacks.back().top()) % detail::page_bytes());
  }
  EXPECT_GE(places.size(), 16U);
}

TEST(Stack, LiesOnTheCallersMemory) {
  std::vector<std::byte> memory(10'001);
  const Stack stack = Stack::on(std::span(memory).subspan(1));
  EXPECT_GT(stack.memory().data(), memory.data());
  EXPECT_LE(stack.memory().data() + stack.memory().size(), memory.data() + memory.size());
  EXPECT_GT(stack.memory().size(), 9'800U);
}

TEST(Stack, KnowsHowMuchOfItWasUsed) {
  const std::size_t page = detail::page_bytes();
  StackPool pool({.usable_bytes = 16 * page});
  const Stack stack = *pool.acquire();
  EXPECT_LE(stack.used_bytes_max(), page);
  std::byte* const end = stack.memory().data() + stack.memory().size();
  end[-1] = std::byte{1};
  EXPECT_EQ(stack.used_bytes_max(), page);
  end[-static_cast<long>(5 * page)] = std::byte{1};
  EXPECT_EQ(stack.used_bytes_max(), 5 * page);
  stack.memory()[0] = std::byte{1};
  EXPECT_EQ(stack.used_bytes_max(), 16 * page);
}

}  // namespace
}  // namespace sennit::fiber
