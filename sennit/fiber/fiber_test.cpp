#include "sennit/fiber/fiber.hpp"

#include <cfenv>
#include <exception>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sennit/fiber/stack_pool.hpp"

namespace sennit::fiber {
namespace {

class FiberTest : public ::testing::Test {
 protected:
  Stack stack() { return std::move(*pool_.acquire()); }
  StackPool pool_{{.usable_bytes = 256 * 1024}};
};

struct Trace {
  Fiber& fiber;
  std::string text;
};

TEST_F(FiberTest, StopsInTheMiddleAndGoesOn) {
  Fiber fiber(stack());
  Trace trace{fiber, ""};
  fiber.start(
      [](void* argument) noexcept {
        auto& seen = *static_cast<Trace*>(argument);
        seen.text += "a";
        seen.fiber.suspend();
        seen.text += "b";
      },
      &trace);
  EXPECT_EQ(trace.text, "a");
  EXPECT_FALSE(fiber.is_finished());
  fiber.resume();
  EXPECT_EQ(trace.text, "ab");
  EXPECT_TRUE(fiber.is_finished());
}

TEST_F(FiberTest, CanBeStartedAgainOnTheSameStack) {
  Fiber fiber(stack());
  int runs = 0;
  for (int i = 0; i < 1000; ++i) {
    fiber.start([](void* argument) noexcept { ++*static_cast<int*>(argument); }, &runs);
    ASSERT_TRUE(fiber.is_finished());
  }
  EXPECT_EQ(runs, 1000);
}

// More than a sanitizer has room for, were anything kept of those that ended.
TEST_F(FiberTest, LeavesNothingBehindWhenItEnds) {
  int runs = 0;
  for (int i = 0; i < 150'000; ++i) {
    Fiber fiber(stack());
    fiber.start([](void* argument) noexcept { ++*static_cast<int*>(argument); }, &runs);
    ASSERT_TRUE(fiber.is_finished());
  }
  EXPECT_EQ(runs, 150'000);
}

TEST_F(FiberTest, NestsInOneAnother) {
  Fiber outer(stack()), inner(stack());
  struct Both {
    Fiber& outer;
    Fiber& inner;
    std::string text;
  } both{outer, inner, ""};
  outer.start(
      [](void* argument) noexcept {
        auto& seen = *static_cast<Both*>(argument);
        seen.text += "1";
        seen.inner.start(
            [](void* inner_argument) noexcept {
              auto& inner_seen = *static_cast<Both*>(inner_argument);
              inner_seen.text += "2";
              inner_seen.inner.suspend();
              inner_seen.text += "4";
            },
            argument);
        seen.text += "3";
        seen.outer.suspend();
        seen.inner.resume();
        seen.text += "5";
      },
      &both);
  EXPECT_EQ(both.text, "123");
  outer.resume();
  EXPECT_EQ(both.text, "12345");
}

// Whoever resumes it gets control back, though another has started it.
TEST_F(FiberTest, ReturnsToWhoeverResumedItLast) {
  Fiber starter(stack()), moving(stack());
  struct Both {
    Fiber& starter;
    Fiber& moving;
    std::string text;
  } both{starter, moving, ""};
  starter.start(
      [](void* argument) noexcept {
        auto& seen = *static_cast<Both*>(argument);
        seen.moving.start(
            [](void* inner_argument) noexcept {
              auto& inner_seen = *static_cast<Both*>(inner_argument);
              for (const char step : {'1', '3', '5'}) {
                inner_seen.text += step;
                inner_seen.moving.suspend();
              }
            },
            argument);
        seen.text += "2";
        seen.starter.suspend();
        seen.moving.resume();
        seen.text += "6";
      },
      &both);
  moving.resume();
  both.text += "4";
  starter.resume();
  moving.resume();
  EXPECT_EQ(both.text, "123456");
  EXPECT_TRUE(starter.is_finished());
  EXPECT_TRUE(moving.is_finished());
}

// Two fibers suspended inside catch blocks, ended in the order that a shared list would confuse.
TEST_F(FiberTest, KeepsTheExceptionsBeingHandledApart) {
  struct Handler {
    Fiber fiber;
    std::string name, rethrown;
    Handler(Stack stack, std::string handler_name)
        : fiber(std::move(stack)), name(std::move(handler_name)) {}
  } first(stack(), "first"), second(stack(), "second");
  constexpr auto run = [](void* argument) noexcept {
    auto& self = *static_cast<Handler*>(argument);
    try {
      try {
        throw std::runtime_error(self.name);
      } catch (const std::runtime_error&) {
        self.fiber.suspend();
        throw;  // The current exception: ours, not the one caught last on this thread.
      }
    } catch (const std::runtime_error& error) {
      self.rethrown = error.what();
    }
  };
  first.fiber.start(run, &first);
  second.fiber.start(run, &second);
  EXPECT_EQ(std::current_exception(), nullptr);
  first.fiber.resume();
  second.fiber.resume();
  EXPECT_EQ(first.rethrown, "first");
  EXPECT_EQ(second.rethrown, "second");
}

TEST_F(FiberTest, PassesValuesEachWay) {
  Fiber fiber(stack());
  void* const first = fiber.start(
      [](void* argument) noexcept {
        auto& self = *static_cast<Fiber*>(argument);
        void* value = argument;
        while (value != nullptr) value = self.suspend(value);
      },
      &fiber);
  EXPECT_EQ(first, &fiber);
  int number = 0;
  EXPECT_EQ(fiber.resume(&number), &number);
  EXPECT_EQ(fiber.resume(nullptr), nullptr);
  EXPECT_TRUE(fiber.is_finished());
}

// A destructor runs a fiber while its own thread unwinds: what it throws there is another matter.
TEST_F(FiberTest, RunsWhileItsResumerHandlesAnException) {
  struct Seen {
    Fiber fiber;
    bool none_before = false, caught = false;
    int uncaught = -1;
    explicit Seen(Stack stack) : fiber(std::move(stack)) {}
  } seen(stack());
  try {
    throw std::runtime_error("outer");
  } catch (const std::runtime_error& outer) {
    seen.fiber.start(
        [](void* argument) noexcept {
          auto& self = *static_cast<Seen*>(argument);
          self.none_before = std::current_exception() == nullptr;
          self.uncaught = std::uncaught_exceptions();
          self.fiber.suspend();
          try {
            throw std::logic_error("inner");
          } catch (const std::logic_error&) {
            self.caught = true;
            self.fiber.suspend();
          }
        },
        &seen);
    seen.fiber.resume();
    EXPECT_NE(std::current_exception(), nullptr);
    EXPECT_STREQ(outer.what(), "outer");
  }
  EXPECT_EQ(std::current_exception(), nullptr);
  seen.fiber.resume();
  EXPECT_TRUE(seen.none_before && seen.caught);
  EXPECT_EQ(seen.uncaught, 0);
}

class FloatControlTest : public FiberTest {
 protected:
  ~FloatControlTest() override { std::fesetround(FE_TONEAREST); }
  static void round_up(void* fiber) noexcept {
    std::fesetround(FE_UPWARD);
    static_cast<Fiber*>(fiber)->suspend();
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
  }
};

TEST_F(FloatControlTest, IsKeptToTheFiberThatAskedForIt) {
  Fiber fiber(stack());
  fiber.keep_float_control();
  fiber.start(&round_up, &fiber);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  std::fesetround(FE_DOWNWARD);
  fiber.resume();
  EXPECT_EQ(std::fegetround(), FE_DOWNWARD);
}

TEST_F(FloatControlTest, IsSharedOtherwise) {
  Fiber fiber(stack());
  fiber.start(&round_up, &fiber);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
  fiber.resume();
}

TEST_F(FiberTest, HasANameWhileItLives) {
  Stack lent = stack();
  StackTop* const top = lent.top();
  {
    Fiber fiber(std::move(lent));
    EXPECT_EQ(fiber.name(), "");
    fiber.set_name("reader");
    EXPECT_EQ(fiber.name(), "reader");
    EXPECT_EQ(top->mark, StackTop::has_name);
  }
  EXPECT_NE(top->mark, StackTop::has_name);
}

TEST_F(FiberTest, RunsOnTheCallersMemory) {
  std::vector<std::byte> memory(256 * 1024);
  Fiber fiber(Stack::on(memory));
  int runs = 0;
  fiber.start([](void* argument) noexcept { ++*static_cast<int*>(argument); }, &runs);
  EXPECT_EQ(runs, 1);
}

// More than ThreadSanitizer with GCC 12 has contexts.
TEST_F(FiberTest, CanBeMadeAgainAndAgain) {
  int runs = 0;
  for (int i = 0; i < 10'000; ++i) {
    Fiber fiber(stack());
    fiber.start([](void* argument) noexcept { ++*static_cast<int*>(argument); }, &runs);
  }
  EXPECT_EQ(runs, 10'000);
}

TEST_F(FiberTest, OffersAlignedStorageAtTheTopOfItsStack) {
  const Fiber fiber(stack());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(fiber.storage().data()) % 16, 0U);
}

TEST_F(FiberTest, RunsAThousandSideBySide) {
  struct Counting {
    explicit Counting(Stack stack) : fiber(std::move(stack)) {}
    Fiber fiber;
    int steps = 0;
  };
  std::vector<std::unique_ptr<Counting>> all;
  for (int i = 0; i < 1000; ++i) all.push_back(std::make_unique<Counting>(stack()));
  for (auto& one : all) {
    one->fiber.start(
        [](void* argument) noexcept {
          auto& self = *static_cast<Counting*>(argument);
          for (self.steps = 1; self.steps < 5; ++self.steps) self.fiber.suspend();
        },
        one.get());
  }
  for (int round = 2; round <= 5; ++round) {
    for (auto& one : all) {
      one->fiber.resume();
      ASSERT_EQ(one->steps, round);
    }
  }
  for (auto& one : all) EXPECT_TRUE(one->fiber.is_finished());
}

}  // namespace
}  // namespace sennit::fiber
