#include "sennit/fiber/context.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SENNIT_RAW_SWITCHES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SENNIT_RAW_SWITCHES 0
#endif
#endif
#ifndef SENNIT_RAW_SWITCHES
#define SENNIT_RAW_SWITCHES 1
#endif

namespace sennit::fiber {
namespace {

// Sanitizers must be told of a switch, which Fiber does; bare switches are tested without them.
class ContextTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!SENNIT_RAW_SWITCHES) GTEST_SKIP() << "bare switches confuse this sanitizer";
  }
  std::vector<std::byte> stack_ = std::vector<std::byte>(256 * 1024);
  static inline void* outside_ = nullptr;
  static inline void* inside_ = nullptr;
};

TEST_F(ContextTest, PassesAValueEachWay) {
  inside_ = make_context(stack_, [](void* value) {
    for (;;) {
      auto* number = static_cast<int*>(value);
      *number *= 2;
      value = sennit_switch_context(&inside_, outside_, number);
    }
  });
  int number = 21;
  EXPECT_EQ(sennit_switch_context(&outside_, inside_, &number), &number);
  EXPECT_EQ(number, 42);
  sennit_switch_context(&outside_, inside_, &number);
  EXPECT_EQ(number, 84);
}

TEST_F(ContextTest, StartsOnAnAlignedStack) {
  static std::uintptr_t misalignment = 1;
  inside_ = make_context(stack_, [](void*) {
    alignas(16) volatile char aligned[16] = {};
    misalignment = reinterpret_cast<std::uintptr_t>(&aligned) % 16;
    volatile double sum = 0.5;  // Compilers use aligned vector stores for code such as this.
    sum = sum + 1;
    sennit_switch_context(&inside_, outside_, nullptr);
  });
  sennit_switch_context(&outside_, inside_, nullptr);
  EXPECT_EQ(misalignment, 0U);
}

TEST_F(ContextTest, LetsExceptionsBeThrownAndCaughtInside) {
  static bool caught = false;
  inside_ = make_context(stack_, [](void*) {
    try {
      throw std::runtime_error("inside");
    } catch (const std::runtime_error&) {
      caught = true;
    }
    sennit_switch_context(&inside_, outside_, nullptr);
  });
  sennit_switch_context(&outside_, inside_, nullptr);
  EXPECT_TRUE(caught);
}

TEST_F(ContextTest, KeepsCalleeSavedValuesAcrossSwitches) {
  inside_ = make_context(stack_, [](void*) {
    for (;;) sennit_switch_context(&inside_, outside_, nullptr);
  });
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
  double x = 1.5, y = 2.5;
  for (int i = 0; i < 1000; ++i) {
    sennit_switch_context(&outside_, inside_, nullptr);
    a += 1, b += a, c += b, d += c, e += d, f += e, x += 1, y += x;
  }
  EXPECT_EQ(a, 1001U);
  EXPECT_EQ(b, 2U + 1001U * 1002U / 2 - 1);
  EXPECT_EQ(x, 1001.5);
  EXPECT_GT(f, e);
  EXPECT_GT(y, x);
}

}  // namespace
}  // namespace sennit::fiber
