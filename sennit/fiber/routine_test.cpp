#include "sennit/fiber/routine.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>

#include "sennit/fiber/stack_pool.hpp"

namespace sennit::fiber {
namespace {

class RoutineTest : public ::testing::Test {
 protected:
  Stack stack() { return *pool_.acquire(); }
  StackPool pool_{{.usable_bytes = 256 * 1024}};
};

TEST_F(RoutineTest, PassesValuesInAndOut) {
  Routine<int, std::string> lengths(stack(), [](auto& self, std::string word) {
    while (!word.empty()) word = self.yield(static_cast<int>(word.size()));
    return -1;
  });
  EXPECT_EQ(lengths.resume("one"), 3);
  EXPECT_EQ(lengths.resume("three"), 5);
  EXPECT_FALSE(lengths.is_finished());
  EXPECT_EQ(lengths.resume(""), -1);
  EXPECT_TRUE(lengths.is_finished());
}

TEST_F(RoutineTest, MovesWhatCannotBeCopied) {
  using Pointer = std::unique_ptr<int>;
  Routine<Pointer, Pointer> doubling(stack(), [](auto& self, Pointer number) {
    while (number != nullptr) {
      *number *= 2;
      number = self.yield(std::move(number));
    }
    return number;
  });
  EXPECT_EQ(*doubling.resume(std::make_unique<int>(21)), 42);
  EXPECT_EQ(doubling.resume(nullptr), nullptr);
}

TEST_F(RoutineTest, LetsExceptionsOutToWhoResumesIt) {
  bool was_unwound = false;
  Routine<int, int> failing(stack(), [&was_unwound](auto& self, int first) {
    struct Unwound {
      bool& flag;
      ~Unwound() { flag = true; }
    } const unwound{was_unwound};
    if (self.yield(first) < 0) throw std::out_of_range("negative");
    return 0;
  });
  EXPECT_EQ(failing.resume(7), 7);
  try {
    failing.resume(-1);
    FAIL() << "nothing came out";
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "negative");
  }
  EXPECT_TRUE(was_unwound);
  EXPECT_TRUE(failing.is_finished());
}

TEST_F(RoutineTest, DestroysItsFunctionThoughItNeverRan) {
  const auto counted = std::make_shared<int>();
  {
    const Routine<int, int> unused(stack(), [counted](auto&, int value) { return value; });
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_F(RoutineTest, MayRunAnother) {
  Routine<int, int> inner(stack(), [](auto& self, int value) {
    for (;;) {
      if (value == 0) return 0;
      value = self.yield(value * 10);
    }
  });
  Routine<int, int> outer(stack(), [&inner](auto& self, int value) {
    value = self.yield(inner.resume(value) + 1);
    return inner.resume(value);
  });
  EXPECT_EQ(outer.resume(4), 41);
  EXPECT_EQ(outer.resume(0), 0);
  EXPECT_TRUE(inner.is_finished());
}

using RoutineDeathTest = RoutineTest;

TEST_F(RoutineDeathTest, MustNotBeDestroyedWhileSuspended) {
  const auto leave_open = [this] {
    Routine<int, int> open(stack(), [](auto& self, int value) { return self.yield(value); });
    open.resume(1);
  };
  EXPECT_DEATH(leave_open(), "is_finished");
}

}  // namespace
}  // namespace sennit::fiber
