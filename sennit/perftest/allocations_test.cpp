#include "sennit/perftest/allocations.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "sennit/perftest/count_allocations.hpp"
#include "sennit/perftest/do_not_optimize.hpp"

namespace sennit::perftest {
namespace {

// Sanitized builds keep the operators of their sanitizer.
#if defined(SENNIT_PERF_KEEPS_OPERATOR_NEW)
TEST(Allocations, AreNotCountedUnderASanitizer) { EXPECT_FALSE(allocations_are_counted()); }
#else

struct alignas(256) Wide {
  char bytes[256];
};

TEST(Allocations, AreCountedBetweenStartAndStop) {
  ASSERT_TRUE(allocations_are_counted());
  auto before = std::make_unique<int>(1);
  do_not_optimize(before);
  start_counting_allocations();
  auto one = std::make_unique<std::int64_t>(1);
  auto many = std::make_unique<std::int64_t[]>(4);
  do_not_optimize(one);
  do_not_optimize(many);
  const Allocations counted = stop_counting_allocations();
  auto after = std::make_unique<int>(1);
  do_not_optimize(after);
  EXPECT_EQ(counted.count, 2U);
  EXPECT_EQ(counted.bytes, 8U + 32);
  start_counting_allocations();
  EXPECT_EQ(stop_counting_allocations().count, 0U);
}

TEST(Allocations, KeepWideAlignments) {
  start_counting_allocations();
  auto wide = std::make_unique<Wide>();
  do_not_optimize(wide);
  EXPECT_EQ(stop_counting_allocations().count, 1U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.get()) % alignof(Wide), 0U);
}

#endif

}  // namespace
}  // namespace sennit::perftest
