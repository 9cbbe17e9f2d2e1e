#include "sennit/runtime/sync/future.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "sennit/base/random.hpp"
#include "sennit/runtime/sync/detail/testing/parties.hpp"
#include "sennit/runtime/sync/detail/testing/waiters.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using TextFuture = Future<std::string>;
using FutureStarted = testing::Started<TextFuture>;

TEST(Future, GivesWhatWasSetBeforeOrAfterItIsWaitedFor) {
  Promise<std::string> before, after;
  before.set_value("early");
  FutureStarted late(after.future());
  EXPECT_TRUE(late.waits);
  after.set_value(3, 'x');
  EXPECT_EQ(late.wakes(), 1);
  EXPECT_EQ(late.take().value_or(""), "xxx");

  Promise<std::string> ready;
  TextFuture future = ready.future();
  ready.set_value("there");
  FutureStarted at_once(std::move(future));
  EXPECT_FALSE(at_once.waits);
  EXPECT_EQ(at_once.take().value_or(""), "there");
}

TEST(Future, GivesErrorsAndThrowsExceptions) {
  Promise<std::string> failing, throwing;
  TextFuture failed = failing.future(), thrown = throwing.future();
  failing.set_error(Error(Errc::not_found, "look"));
  throwing.set_exception(std::make_exception_ptr(std::runtime_error("thrown")));
  EXPECT_EQ(wait(failed).error().code(), Errc::not_found);
  EXPECT_THROW((void)wait(thrown), std::runtime_error);
}

TEST(Future, IsToldOfABrokenPromise) {
  auto promise = std::make_unique<Promise<std::string>>();
  FutureStarted future(promise->future());
  promise.reset();
  EXPECT_EQ(future.wakes(), 1);
  EXPECT_EQ(future.take().error().code(), Errc::closed);
}

TEST(Future, MayBeDestroyedBeforeItsPromiseIsSet) {
  const auto counted = std::make_shared<int>();
  Promise<std::shared_ptr<int>> promise;
  {
    const auto dropped = promise.future();
  }
  promise.set_value(counted);
  EXPECT_EQ(counted.use_count(), 1);
  {
    Promise<int> never_asked;
  }
}

TEST(Future, CancelledBeforeItIsSetCanBeWaitedForAgain) {
  Promise<std::string> promise;
  FutureStarted future(promise.future());
  future.cancel();
  future.cancel();
  EXPECT_EQ(future.wakes(), 1);
  EXPECT_EQ(future.take().error().code(), Errc::cancelled);
  promise.set_value("again");
  EXPECT_EQ(wait(future.awaitable).value_or(""), "again");
}

TEST(Future, CancelledAfterItIsSetSucceeds) {
  Promise<std::string> promise;
  FutureStarted future(promise.future());
  promise.set_value("won");
  future.cancel();
  EXPECT_EQ(future.wakes(), 1);
  EXPECT_EQ(future.take().value_or(""), "won");
}

TEST(Future, SetBetweenCancelAndWakeUpSucceeds) {
  Promise<std::string> promise;
  FutureStarted future(promise.future());
  future.cancel();
  promise.set_value("won");
  EXPECT_EQ(future.wakes(), 1);
  EXPECT_EQ(future.take().value_or(""), "won");
}

TEST(FutureDeathTest, StopsAtMisuse) {
  Promise<> promise;
  Future<void> future = promise.future();
  EXPECT_DEATH((void)promise.future(), "has one Future");
  promise.set_value();
  EXPECT_DEATH(promise.set_value(), "is set once");
  EXPECT_TRUE(wait(future).has_value());
  EXPECT_DEATH((void)wait(future), "gives its result once");
}

class FutureAcross : public testing::BackendTest {};

TEST_P(FutureAcross, IsKeptFromAnyThreadForAllKinds) {
  const std::uint64_t seed = testing::test_seed();
  SCOPED_TRACE(::testing::Message() << "SENNIT_SEED=" << seed);
  const auto rounds = static_cast<std::size_t>(testing::scaled(1000));
  std::atomic<std::uint64_t> number = 0;
  for (const auto from : testing::party_kinds) {
    for (const auto to : testing::party_kinds) {
      std::vector<Promise<std::unique_ptr<std::size_t>>> promises(rounds);
      std::vector<Future<std::unique_ptr<std::size_t>>> futures;
      for (auto& promise : promises) futures.push_back(promise.future());
      testing::Parties parties(runtime());
      parties.add(from, 0, [&](auto as) -> decltype(as) {
        for (std::size_t i = 0; i < rounds; ++i) {
          promises[i].set_value(std::make_unique<std::size_t>(i));
        }
        co_return;
      });
      parties.add(to, 1, [&](auto as) -> decltype(as) {
        Random random(seed + ++number);
        for (std::size_t i = 0; i < rounds; ++i) {
          const auto spins = static_cast<unsigned>(random.below(300));
          if (random.below(3) == 0) {
            testing::CancelSoon cancelling(std::move(futures[i]), spins);
            auto result = co_await cancelling;
            if (!result) result = co_await cancelling.inner();
            EXPECT_EQ(**result, i);
          } else {
            auto result = co_await futures[i];
            EXPECT_EQ(**result, i);
          }
        }
      });
    }
  }
}

SENNIT_FOR_EACH_BACKEND(FutureAcross);

}  // namespace
}  // namespace sennit::runtime
