#include "sennit/runtime/when.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>

#include "sennit/base/random.hpp"
#include "sennit/runtime/detail/testing/manual_worker.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/sync/channel.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/sync/event.hpp"
#include "sennit/runtime/sync/mutex.hpp"
#include "sennit/runtime/sync/semaphore.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

/// The error of something that was begun and failed.
template <class T>
Errc when_code(const std::optional<Result<T>>& result) {
  SENNIT_ASSERT(result.has_value() && !result->has_value());
  return result->error().code();
}

/// Each body runs on a fiber, and then in a coroutine, on a clock that goes on by itself.
class WhenTest : public testing::ManualWorkerTest {
 protected:
  Task<int> number(int n, Duration delay = 1ms) {
    ++running_;
    (void)co_await sleep_for(delay);
    --running_;
    co_return n;
  }
  static Task<> failing(const char* text, Duration delay) {
    (void)co_await sleep_for(delay);
    throw std::runtime_error(text);
  }
  static Task<> nothing() { co_return; }
  template <class Body>
  void on_both(Body body) {
    const auto move_on = [&] { clock().advance(1ms); };
    run([&] { body(testing::StraightTask()); }, move_on);
    EXPECT_EQ(running_, 0);
    run([&] { wait(body(nothing())); }, move_on);
    EXPECT_EQ(running_, 0);
  }
  int running_ = 0;
};
using WhenDeathTest = WhenTest;

TEST_F(WhenTest, AllGivesTheResultOfEachAndRunsThemSideBySide) {
  on_both([&](auto as) -> decltype(as) {
    const TimePoint begin = clock().now();
    auto results = co_await when_all(number(1, 20ms), nothing(), number(2, 20ms), sleep_for(20ms));
    EXPECT_EQ(std::get<0>(results) + std::get<2>(results), 3);
    EXPECT_EQ(std::get<1>(results), std::monostate());
    EXPECT_TRUE(std::get<3>(results).has_value());
    EXPECT_LT(clock().now(), begin + 40ms);
  });
}

TEST_F(WhenTest, AnyReturnsWhenOneHasEndedAndTheOthersToo) {
  on_both([&](auto as) -> decltype(as) {
    auto any = co_await when_any(number(1, 1h), sleep_for(2ms), number(3, 1h));
    EXPECT_EQ(running_, 0) << "the losers have ended";
    EXPECT_EQ(any.index, 1U);
    EXPECT_TRUE(std::get<1>(any.results)->has_value());
    EXPECT_EQ(std::get<0>(any.results), 1) << "what it made of being cancelled";
    EXPECT_EQ(std::get<2>(any.results), 3);
  });
}

TEST_F(WhenTest, AnyBeginsNothingBehindWhatIsReady) {
  on_both([&](auto as) -> decltype(as) {
    Channel<int> empty, full(1), untouched(1);
    (void)full.try_send(1);
    (void)untouched.try_send(2);
    auto any = co_await select(empty.receive(), full.receive(), untouched.receive());
    EXPECT_EQ(any.index, 1U);
    EXPECT_EQ(when_code(std::get<0>(any.results)), Errc::cancelled);
    EXPECT_EQ(std::get<1>(any.results)->value_or(0), 1);
    EXPECT_FALSE(std::get<2>(any.results).has_value());
    EXPECT_EQ(untouched.try_receive(), 2);
  });
}

TEST_F(WhenTest, SelectSendsAndReceives) {
  on_both([&](auto as) -> decltype(as) {
    Channel<std::string> in, out(1);
    auto sent = co_await select(in.receive(), out.send("text"), sleep_for(1h));
    EXPECT_EQ(sent.index, 1U);
    EXPECT_EQ(out.try_receive(), "text");
    EXPECT_FALSE(in.try_send("nobody receives")) << "the receiver has left";
    auto late = co_await select(in.receive(), sleep_for(1ms));
    EXPECT_EQ(late.index, 1U);
  });
}

TEST(When, LosesNothingThatALoserHadCompleted) {
  Channel<std::unique_ptr<int>> first, second;
  Mutex mutex;
  ASSERT_TRUE(mutex.try_lock());
  testing::Started both(when_any(first.receive(), mutex.lock(), second.receive()));
  ASSERT_TRUE(both.waits);
  EXPECT_TRUE(second.try_send(std::make_unique<int>(2)));
  mutex.unlock();
  EXPECT_TRUE(first.try_send(std::make_unique<int>(1)));
  EXPECT_EQ(both.wakes(), 1);
  {
    auto any = both.take();
    EXPECT_EQ(any.index, 2U) << "the first to end";
    EXPECT_EQ(**std::get<0>(any.results).value(), 1);
    EXPECT_EQ(**std::get<2>(any.results).value(), 2);
    EXPECT_TRUE(std::get<1>(any.results)->has_value());
    EXPECT_FALSE(mutex.try_lock()) << "it is in the results";
  }
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TEST(When, LeavesWithTheLosersWhatTheyHadNotGot) {
  Channel<int> winning, losing(1), sending;
  testing::Started any(when_any(losing.receive(), winning.receive(), sending.send(7)));
  EXPECT_TRUE(winning.try_send(1));
  EXPECT_EQ(any.wakes(), 1);
  EXPECT_TRUE(losing.try_send(2));
  auto taken = any.take();
  EXPECT_EQ(when_code(std::get<0>(taken.results)), Errc::cancelled);
  EXPECT_EQ(when_code(std::get<2>(taken.results)), Errc::cancelled);
  EXPECT_EQ(losing.try_receive(), 2);
  EXPECT_EQ(sending.try_receive(), std::nullopt);
}

TEST(When, CancellingTheWholeCancelsEach) {
  Semaphore none(0);
  Event never;
  testing::Started all(when_all(none.acquire(), never.wait()));
  all.cancel();
  all.cancel();
  EXPECT_EQ(all.wakes(), 1);
  const auto results = all.take();
  EXPECT_EQ(std::get<0>(results).error().code(), Errc::cancelled);
  EXPECT_EQ(std::get<1>(results).error().code(), Errc::cancelled);
  none.release();
  EXPECT_EQ(none.available(), 1U);
}

TEST(When, WaitsOnceMoreWhenItIsAwaitedAgain) {
  Event first, second;
  auto any = when_any(first.wait(), second.wait());
  for (int round = 0; round < 3; ++round) {
    (round % 2 == 0 ? first : second).set();
    EXPECT_EQ(wait(any).index, static_cast<std::size_t>(round % 2));
    first.reset();
    second.reset();
  }
}

TEST_F(WhenTest, SomeWaitsForSoManyOfAPackOrAList) {
  on_both([&](auto as) -> decltype(as) {
    auto pack = co_await when_some(2, sleep_for(1h), sleep_for(5ms), sleep_for(1ms));
    EXPECT_EQ(when_code(std::get<0>(pack)), Errc::cancelled);
    EXPECT_TRUE(std::get<1>(pack)->has_value() && std::get<2>(pack)->has_value());

    std::vector<Sleep> sleeps;
    for (const Duration delay : {Duration(1h), Duration(1ms), Duration(1h), Duration(2ms)}) {
      sleeps.push_back(sleep_for(delay));
    }
    auto list = co_await when_some(2, sleeps);
    EXPECT_EQ(list.size(), 4U);
    for (const std::size_t i : {0U, 1U, 2U, 3U}) EXPECT_EQ(list[i]->has_value(), i % 2 == 1) << i;
    auto none = co_await when_some(0, sleeps);
    EXPECT_FALSE(none[0].has_value());
  });
}

TEST_F(WhenTest, ListsWorkAsPacksDo) {
  on_both([&](auto as) -> decltype(as) {
    std::vector<Task<int>> tasks;
    for (int i = 0; i < 100; ++i) tasks.push_back(number(i, Duration(1ms) * (i % 7)));
    auto all = co_await when_all(std::move(tasks));
    EXPECT_EQ(all.size(), 100U);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
    auto empty = co_await when_all(std::vector<Task<int>>());
    EXPECT_TRUE(empty.empty());

    std::deque<Task<int>> two;
    two.push_back(number(1, 1h));
    two.push_back(number(2, 1ms));
    auto any = co_await when_any(two);
    EXPECT_EQ(any.index, 1U);
    EXPECT_EQ(any.results[1], 2);
  });
}

TEST_F(WhenTest, ThrowsTheFirstExceptionAfterAllHaveEnded) {
  on_both([&](auto as) -> decltype(as) {
    Mutex mutex;
    std::string caught;
    try {
      auto all =
          when_all(number(1, 9ms), failing("second", 5ms), mutex.lock(), failing("fourth", 1ms));
      (void)co_await all;
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "second");
    EXPECT_EQ(running_, 0);
    EXPECT_TRUE(mutex.try_lock()) << "what had been got is given back";
    mutex.unlock();
  });
}

TEST_F(WhenTest, MayBeNested) {
  on_both([&](auto as) -> decltype(as) {
    Event never;
    auto any = co_await when_any(when_all(never.wait(), sleep_for(1ms)),
                                 when_any(sleep_for(1h), sleep_for(3ms)));
    EXPECT_EQ(any.index, 1U);
    EXPECT_EQ(std::get<1>(any.results)->index, 1U);
    EXPECT_EQ(std::get<0>(*std::get<0>(any.results)).error().code(), Errc::cancelled);
  });
}

TEST_F(WhenTest, EndsEarlyWithItsActivity) {
  on_both([&](auto as) -> decltype(as) {
    Event never;
    Activity::here().cancel();
    auto all = co_await when_all(never.wait(), number(1, 1h), sleep_for(1h));
    EXPECT_EQ(std::get<0>(all).error().code(), Errc::cancelled);
    EXPECT_EQ(std::get<2>(all).error().code(), Errc::cancelled);
  });
}

TEST_F(WhenTest, DestroysEachTemporaryOnce) {
  const auto counted = std::make_shared<int>(1);
  on_both([&](auto as) -> decltype(as) {
    Channel<std::shared_ptr<int>> channel(2);
    {
      auto all = co_await when_all(channel.send(counted), channel.send(counted), nothing());
      EXPECT_TRUE(std::get<0>(all).has_value());
      EXPECT_EQ(counted.use_count(), 3);
    }
    auto any = co_await when_any(channel.send(counted), sleep_for(1ms));
    EXPECT_EQ(any.index, 1U);
    EXPECT_EQ(counted.use_count(), 3);
  });
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_F(WhenDeathTest, StopsAtMisuse) {
  Event event;
  EXPECT_DEATH((void)when_some(3, event.wait(), event.wait()), "more are waited for");
  EXPECT_DEATH((void)when_any(std::vector<Sleep>()), "more are waited for");
}

class WhenAcross : public testing::BackendTest {};

// Everybody selects: senders between two channels, receivers between both and an event. What was
// sent, by whatever result, is received once.
TEST_P(WhenAcross, SelectLosesAndDoublesNoMessageBetweenKindsAndWorkers) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  const int rounds = testing::scaled(1000);
  for (const std::size_t capacity : {0U, 1U}) {
    Channel<std::uint64_t> first(capacity), second(capacity);
    Event flickering;
    std::atomic<std::uint64_t> sent_sum = 0, received_sum = 0, sent = 0, received = 0, number = 0;
    std::atomic<int> open_senders = 5;
    testing::Parties parties(runtime());
    parties.add_all([&](auto as) -> decltype(as) {
      Random random(seed + ++number);
      for (int i = 0; i < rounds; ++i) {
        const std::uint64_t value = random.below(1000);
        auto any = co_await select(first.send(value), second.send(value));
        const auto& one = std::get<0>(any.results);
        const auto& two = std::get<1>(any.results);
        const bool in_one = one && *one, in_two = two && *two;
        EXPECT_TRUE(in_one || in_two);
        sent += (in_one ? 1U : 0U) + (in_two ? 1U : 0U);
        sent_sum += value * ((in_one ? 1U : 0U) + (in_two ? 1U : 0U));
        if (random.below(8) == 0) {
          flickering.set();
          flickering.reset();
        }
      }
      if (--open_senders == 0) {
        first.close();
        second.close();
      }
    });
    parties.add_all([&](auto as) -> decltype(as) {
      bool is_open = true;
      while (is_open) {
        auto any = co_await select(first.receive(), flickering.wait(), second.receive());
        const auto count = [&](const auto& message) {
          if (message && *message) {
            ++received;
            received_sum += **message;
          } else if (message && message->error().code() == Errc::closed) {
            is_open = false;
          }
        };
        count(std::get<0>(any.results));
        count(std::get<2>(any.results));
      }
      while (const auto left = first.try_receive()) {
        ++received;
        received_sum += *left;
      }
      while (const auto left = second.try_receive()) {
        ++received;
        received_sum += *left;
      }
    });
    parties.join();
    EXPECT_EQ(received, sent);
    EXPECT_EQ(received_sum, sent_sum);
  }
}

SENNIT_FOR_EACH_BACKEND(WhenAcross);

}  // namespace
}  // namespace sennit::runtime
