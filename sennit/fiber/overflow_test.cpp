#include "sennit/fiber/overflow.hpp"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "sennit/fiber/detail/sanitizers.hpp"
#include "sennit/fiber/fiber.hpp"
#include "sennit/fiber/stack_pool.hpp"

namespace sennit::fiber {
namespace {

// Each test ends a process of its own: the handler is there for good once it is installed.
class OverflowDeathTest : public ::testing::Test {
 protected:
  [[gnu::noinline]] static int recurse(int depth) {
    volatile char frame[256];
    frame[depth % 256] = static_cast<char>(depth);
    return depth == 0 ? 0 : recurse(depth - 1) + frame[depth % 256];
  }
  static void run_over(std::string_view name) {
    StackPool pool({});
    Fiber fiber(*pool.acquire());
    fiber.set_name(name);
    fiber.start([](void*) noexcept { recurse(1 << 20); }, nullptr);
  }
  static void overflow(std::string_view name) {
    const OverflowReports reports;
    run_over(name);
  }
  static void fault() {
    volatile char* nowhere = reinterpret_cast<char*>(16);
    *nowhere = 1;
  }
};

TEST_F(OverflowDeathTest, SaysWhichFiberRanOverItsStack) {
  EXPECT_EXIT(overflow("resize image"), testing::KilledBySignal(SIGSEGV),
              "stack overflow in fiber \"resize image\": the stack has 65536 bytes");
}

TEST_F(OverflowDeathTest, SaysItOfAFiberWithoutANameToo) {
  EXPECT_EXIT(overflow(""), testing::KilledBySignal(SIGSEGV), "in fiber \"\\(no name\\)\"");
}

TEST_F(OverflowDeathTest, AsksWhatRunsIfTheFiberHasNoName) {
  const auto asked = [] {
    const OverflowReports reports([]() noexcept { return std::string_view("what runs"); });
    run_over("");
  };
  EXPECT_EXIT(asked(), testing::KilledBySignal(SIGSEGV), "stack overflow in fiber \"what runs\"");
}

TEST_F(OverflowDeathTest, SaysItOnOtherThreads) {
  EXPECT_EXIT(std::thread([] { overflow("elsewhere"); }).join(), testing::KilledBySignal(SIGSEGV),
              "stack overflow in fiber \"elsewhere\"");
}

TEST_F(OverflowDeathTest, TellsAStrayPointerFromAnOverflow) {
  const auto stray = [] {
    const OverflowReports reports;
    StackPool pool({});
    Fiber fiber(*pool.acquire());
    fiber.set_name("victim");
    fiber.start([](void*) noexcept {}, nullptr);
    volatile std::byte* low = fiber.stack().memory().data();
    low[-1] = std::byte{1};
  };
  EXPECT_EXIT(stray(), testing::KilledBySignal(SIGSEGV),
              "guard below the stack of fiber \"victim\"");
}

TEST_F(OverflowDeathTest, LeavesOtherFaultsToTheHandlerThatWasThereBefore) {
  const auto chain = [](bool with_information) {
    struct sigaction before{};
    if (with_information) {
      before.sa_flags = SA_SIGINFO;
      before.sa_sigaction = [](int, siginfo_t* info, void*) {
        ::_exit(info->si_addr == reinterpret_cast<void*>(16) ? 3 : 5);
      };
    } else {
      before.sa_handler = [](int) { ::_exit(4); };
    }
    ::sigaction(SIGSEGV, &before, nullptr);
    const OverflowReports reports;
    fault();
  };
  EXPECT_EXIT(chain(true), testing::ExitedWithCode(3), "");
  EXPECT_EXIT(chain(false), testing::ExitedWithCode(4), "");
}

TEST_F(OverflowDeathTest, LeavesOtherFaultsAndSentSignalsTheirDefaultAction) {
  for (const bool is_sent : {false, true}) {
    const auto end = [is_sent] {
      ::signal(SIGSEGV, SIG_DFL);  // A sanitizer has its own.
      const OverflowReports reports;
      is_sent ? static_cast<void>(::kill(::getpid(), SIGSEGV)) : fault();
    };
    EXPECT_EXIT(end(), testing::KilledBySignal(SIGSEGV), "");
  }
}

TEST(OverflowReports, GiveTheThreadBackAsItWas) {
  const auto signal_stack = [] {
    stack_t current{};
    ::sigaltstack(nullptr, &current);
    return current.ss_flags & SS_DISABLE ? nullptr : current.ss_sp;
  };
  const void* const before = signal_stack();
  {
    const OverflowReports reports;
    EXPECT_NE(signal_stack(), nullptr);
    {
      const OverflowReports inner;
    }
    EXPECT_NE(signal_stack(), nullptr);
  }
  EXPECT_EQ(signal_stack(), before);
}

}  // namespace
}  // namespace sennit::fiber
