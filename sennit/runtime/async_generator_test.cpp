#include "sennit/runtime/async_generator.hpp"

#include <memory>
#include <stdexcept>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/sync/event.hpp"
#include "sennit/runtime/wait.hpp"
#include "sennit/runtime/when.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

class AsyncGeneratorTest : public testing::ManualWorkerTest {
 protected:
  static AsyncGenerator<int> slow_count(int n, std::shared_ptr<int> = nullptr) {
    for (int i = 1; i <= n; ++i) {
      if (i % 2 == 0) (void)co_await sleep_for(1ms);
      co_yield i;
    }
  }
  static Task<std::vector<int>> collect(AsyncGenerator<int> generator) {
    std::vector<int> all;
    while (const auto each = co_await generator.next()) all.push_back(*each);
    EXPECT_FALSE((co_await generator.next()).has_value()) << "the end stays the end";
    co_return all;
  }
  void run_on(const std::function<void()>& body) {
    run(body, [&] { clock().advance(1ms); });
  }
};
using AsyncGeneratorDeathTest = AsyncGeneratorTest;

TEST_F(AsyncGeneratorTest, GivesElementsToFibersAndCoroutinesAndMayWait) {
  run_on([&] {
    EXPECT_EQ(wait(collect(slow_count(5))), (std::vector{1, 2, 3, 4, 5}));
    auto generator = slow_count(3);
    for (int i = 1; i <= 3; ++i) EXPECT_EQ(wait(generator.next()), i);
    EXPECT_EQ(wait(generator.next()), std::nullopt);
  });
}

TEST_F(AsyncGeneratorTest, MayBeLeftBeforeItsEnd) {
  const auto held = std::make_shared<int>();
  run_on([&] {
    {
      auto generator = slow_count(1000, held);
      EXPECT_EQ(wait(generator.next()), 1);
      EXPECT_EQ(held.use_count(), 2);
    }
    {
      const auto never_begun = slow_count(1, held);
    }
    EXPECT_EQ(held.use_count(), 1);
  });
}

TEST_F(AsyncGeneratorTest, ThrowsWhatItsBodyThrowsAndHasEnded) {
  const auto failing = []() -> AsyncGenerator<int> {
    co_yield 1;
    (void)co_await sleep_for(1ms);
    throw std::runtime_error("after one");
  };
  run_on([&] {
    auto generator = failing();
    EXPECT_EQ(wait(generator.next()), 1);
    EXPECT_THROW((void)wait(generator.next()), std::runtime_error);
    EXPECT_EQ(wait(generator.next()), std::nullopt);
  });
}

TEST_F(AsyncGeneratorTest, NextMayBeALoser) {
  Event never;
  const auto waiting = [&]() -> AsyncGenerator<int> {
    const auto woken = co_await never.wait();
    co_yield woken.has_value() ? 1 : -1;
  };
  run_on([&] {
    auto generator = waiting();
    auto any = wait(when_any(generator.next(), sleep_for(2ms)));
    EXPECT_EQ(any.index, 1U);
    EXPECT_EQ(std::get<0>(any.results), -1) << "it was cancelled, and its element is not lost";
  });
}

TEST_F(AsyncGeneratorTest, DoesNotGrowTheStack) {
  testing::StackSpread spread;
  const auto many = [&]() -> AsyncGenerator<int> {
    for (int i = 0; i < 10'000; ++i) {
      spread.note();
      co_yield i;
    }
  };
  const auto consume = [&]() -> Task<> {
    auto generator = many();
    while (co_await generator.next()) spread.note();
  };
  run_on([&] { wait(consume()); });
  EXPECT_LT(spread.bytes(), 8192U);
}

}  // namespace
}  // namespace sennit::runtime
