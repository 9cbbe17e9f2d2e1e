#include "sennit/runtime/detail/stack_trace.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace sennit::runtime::detail {
namespace {

[[gnu::noinline]] std::vector<const void*> trace_at_depth(int depth,
                                                          std::span<const std::byte> stack) {
  std::vector<const void*> trace =
      depth == 0 ? trace_stack(stack) : trace_at_depth(depth - 1, stack);
  asm volatile("" ::: "memory");  // So that it is no tail call.
  return trace;
}

/// The part of this thread's stack around here.
std::span<const std::byte> stack_around() {
  const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
  return {here - (1 << 20), here + 256};
}

TEST(StackTrace, NamesTheCallsThatAreWaitedFor) {
  const auto trace = trace_at_depth(3, stack_around());
  ASSERT_GE(trace.size(), 4U);
  if (!Symbols::is_complete()) GTEST_SKIP() << "built without libdw";
  const Symbols symbols;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NE(symbols.describe(trace[i]).find("trace_at_depth"), std::string::npos)
        << symbols.describe(trace[i]);
  }
}

TEST(StackTrace, EndsWithTheStackAndWithTheMostThereMayBe) {
  EXPECT_TRUE(trace_stack({}).empty());
  EXPECT_LE(trace_at_depth(500, stack_around()).size(), trace_frames_max);
}

TEST(StackTrace, GivesTheNumberOfWhatHasNoName) {
  const Symbols symbols;
  EXPECT_EQ(symbols.describe(reinterpret_cast<const void*>(std::uintptr_t{0x10})), "0x10");
}

}  // namespace
}  // namespace sennit::runtime::detail
