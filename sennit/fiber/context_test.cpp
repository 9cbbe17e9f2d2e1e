#include "sennit/fiber/context.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/fiber/detail/sanitizers.hpp"

#if defined(SENNIT_ASAN) || defined(SENNIT_TSAN)
#define SENNIT_RAW_SWITCHES 0
#else
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
  Context make(Entry entry) {
    const auto end = reinterpret_cast<std::uintptr_t>(stack_.data() + stack_.size());
    return make_context(stack_.data() + stack_.size() - end % 16, entry);
  }
  std::vector<std::byte> stack_ = std::vector<std::byte>(256 * 1024);
};

TEST_F(ContextTest, PassesAValueEachWay) {
  Context context = make([](Context* self, void* value) {
    for (;;) {
      auto* number = static_cast<int*>(value);
      *number *= 2;
      value = switch_context(*self, number);
    }
  });
  int number = 21;
  EXPECT_EQ(switch_context(context, &number), &number);
  EXPECT_EQ(number, 42);
  switch_context(context, &number);
  EXPECT_EQ(number, 84);
}

TEST_F(ContextTest, StartsOnAnAlignedStack) {
  Context context = make([](Context* self, void* value) {
    alignas(16) volatile char aligned[16] = {};
    *static_cast<std::uintptr_t*>(value) = reinterpret_cast<std::uintptr_t>(&aligned) % 16;
    volatile double sum = 0.5;  // Compilers use aligned vector stores for code such as this.
    sum = sum + 1;
    switch_context(*self, nullptr);
  });
  std::uintptr_t misalignment = 1;
  switch_context(context, &misalignment);
  EXPECT_EQ(misalignment, 0U);
}

TEST_F(ContextTest, DoesNotTouchTheStackBeforeItRuns) {
  const Context context = make([](Context* self, void*) { switch_context(*self, nullptr); });
  EXPECT_NE(context.pc, nullptr);
  EXPECT_EQ(stack_, std::vector<std::byte>(stack_.size()));
}

TEST_F(ContextTest, LetsExceptionsBeThrownAndCaughtInside) {
  Context context = make([](Context* self, void* value) {
    try {
      throw std::runtime_error("inside");
    } catch (const std::runtime_error&) {
      *static_cast<bool*>(value) = true;
    }
    switch_context(*self, nullptr);
  });
  bool caught = false;
  switch_context(context, &caught);
  EXPECT_TRUE(caught);
}

TEST_F(ContextTest, KeepsWhatIsAliveAcrossSwitches) {
  Context context = make([](Context* self, void*) {
    std::uint64_t own[16] = {};  // More than fit into registers, which all get other values.
    double other[16] = {};
    for (std::uint64_t round = 1;; ++round) {
      for (std::uint64_t i = 0; i < 16; ++i) own[i] += round * i, other[i] += 0.5;
      void* const changed = switch_context(*self, own);
      if (changed != nullptr) other[round % 16] += *static_cast<double*>(changed);
    }
  });
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
  double x = 1.5, y = 2.5, z = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto* inside = static_cast<std::uint64_t*>(switch_context(context, &z));
    ASSERT_EQ(inside[15], inside[1] * 15);
    a += 1, b += a, c += b, d += c, e += d, f += e, x += 1, y += x;
  }
  EXPECT_EQ(a, 1001U);
  EXPECT_EQ(b, 2U + 1001U * 1002U / 2 - 1);
  EXPECT_EQ(x, 1001.5);
  EXPECT_GT(f, e);
  EXPECT_GT(y, x);
}

// Frames of unknown size with over-aligned locals are addressed by the base register.
TEST_F(ContextTest, KeepsTheRegistersThatUnusualFramesAreAddressedBy) {
  Context context = make([](Context* self, void* value) {
    for (;;) {
      alignas(64) volatile char aligned[64] = {};
      auto* const grown = static_cast<char*>(__builtin_alloca(*static_cast<std::size_t*>(value)));
      grown[0] = 'g';
      aligned[63] = 'a';
      value = switch_context(*self, grown);
      SENNIT_ASSERT(grown[0] == 'g' && aligned[63] == 'a');
    }
  });
  for (std::size_t bytes = 16; bytes < 1024; bytes *= 2) {
    alignas(64) volatile std::size_t aligned[8] = {bytes};
    const auto* grown = static_cast<char*>(switch_context(context, &bytes));
    ASSERT_EQ(*grown, 'g');
    ASSERT_EQ(aligned[0], bytes);
  }
}

}  // namespace
}  // namespace sennit::fiber
