// What a lock, a message and a hand-over cost: alone, between two on one worker, and between two
// workers. A call of a body does its thing many times; the rate that counts is that of the items. A
// round trip is a message there and one back.
//
// Beside it the same work on Boost.Fiber, where it is installed, and between goroutines:
// benchmarks/sync/goroutines.go.

#include <memory>
#include <mutex>
#include <thread>

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"
#include "sennit/perftest/perftest.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/sync/channel.hpp"
#include "sennit/runtime/sync/future.hpp"
#include "sennit/runtime/sync/mutex.hpp"
#include "sennit/runtime/sync/semaphore.hpp"
#include "sennit/runtime/when.hpp"

#ifdef SENNIT_HAS_BOOST_FIBER
#include <boost/fiber/all.hpp>
#endif

namespace sennit::runtime {
namespace {

constexpr int rounds = 20'000;

class SyncPerf : public testing::Test {
 protected:
  explicit SyncPerf(unsigned workers = 1) {
    log::set_level(log::Level::warning);
    RuntimeOptions options;
    options.workers = workers;
    auto started = Runtime::start(options);
    SENNIT_ASSERT(started.has_value(), started.error().to_string());
    runtime_ = *std::move(started);
  }
  // Both on worker 0, and until both are done.
  template <class First, class Second>
  void side_by_side(First first, Second second) {
    runtime_->run([&] {
      Scope scope;
      scope.spawn(first);
      scope.spawn(second);
      wait(scope.join());
    });
  }
  std::unique_ptr<Runtime> runtime_;
};

PERF_TEST_F_WITH(SyncPerf, LockAndUnlock, .items_per_call = rounds) {
  runtime_->run([] {
    Mutex mutex;
    for (int i = 0; i < rounds; ++i) {
      const auto guard = wait(mutex.lock());
      SENNIT_ASSERT(guard.has_value());
    }
  });
}
PERF_TEST_F_WITH(SyncPerf, LockAndUnlockStdMutex, .items_per_call = rounds) {
  runtime_->run([] {
    std::mutex mutex;
    for (int i = 0; i < rounds; ++i) {
      const std::lock_guard guard(mutex);
    }
  });
}
PERF_TEST_F_WITH(SyncPerf, AcquireAndRelease, .items_per_call = rounds) {
  runtime_->run([] {
    Semaphore semaphore(1);
    for (int i = 0; i < rounds; ++i) {
      SENNIT_ASSERT(wait(semaphore.acquire()).has_value());
      semaphore.release();
    }
  });
}
PERF_TEST_F_WITH(SyncPerf, SendAndReceiveInABuffer, .items_per_call = rounds) {
  runtime_->run([] {
    Channel<int> channel(1);
    for (int i = 0; i < rounds; ++i) {
      SENNIT_ASSERT(wait(channel.send(i)).has_value());
      SENNIT_ASSERT(wait(channel.receive()).has_value());
    }
  });
}
PERF_TEST_F_WITH(SyncPerf, PromiseAndFuture, .items_per_call = rounds) {
  runtime_->run([] {
    for (int i = 0; i < rounds; ++i) {
      Promise<int> promise;
      auto future = promise.future();
      promise.set_value(i);
      SENNIT_ASSERT(wait(future).has_value());
    }
  });
}
PERF_TEST_F_WITH(SyncPerf, SelectOneOfTwo, .items_per_call = rounds) {
  runtime_->run([] {
    Channel<int> empty, full(1);
    for (int i = 0; i < rounds; ++i) {
      (void)full.try_send(int(i));
      SENNIT_ASSERT(wait(select(empty.receive(), full.receive())).index == 1);
    }
  });
}

// Two queue up behind each other, so that every lock is handed over, and waited for.
void lock_in_turns(Mutex& mutex) {
  for (int i = 0; i < rounds; ++i) {
    const auto guard = wait(mutex.lock());
    if (i == 0) SENNIT_ASSERT(wait(yield()).has_value());
  }
}
Task<> lock_in_turns_as_task(Mutex& mutex) {
  for (int i = 0; i < rounds; ++i) {
    const auto guard = co_await mutex.lock();
    if (i == 0) (void)co_await yield();
  }
}
PERF_TEST_F_WITH(SyncPerf, MutexHandOverBetweenFibers, .items_per_call = 2 * rounds) {
  Mutex mutex;
  const auto half = [&mutex] { lock_in_turns(mutex); };
  side_by_side(half, half);
}
PERF_TEST_F_WITH(SyncPerf, MutexHandOverBetweenCoroutines, .items_per_call = 2 * rounds) {
  Mutex mutex;
  const auto half = [&mutex] { return lock_in_turns_as_task(mutex); };
  side_by_side(half, half);
}

using IntChannel = Channel<int>;

void send_and_receive(IntChannel& to, IntChannel& from) {
  for (int i = 0; i < rounds; ++i) {
    SENNIT_ASSERT(wait(to.send(i)).has_value());
    SENNIT_ASSERT(wait(from.receive()).has_value());
  }
}
void receive_and_send(IntChannel& from, IntChannel& to) {
  for (int i = 0; i < rounds; ++i) {
    SENNIT_ASSERT(wait(from.receive()).has_value());
    SENNIT_ASSERT(wait(to.send(i)).has_value());
  }
}
Task<> send_and_receive_as_task(IntChannel& to, IntChannel& from) {
  for (int i = 0; i < rounds; ++i) {
    (void)co_await to.send(i);
    (void)co_await from.receive();
  }
}
Task<> receive_and_send_as_task(IntChannel& from, IntChannel& to) {
  for (int i = 0; i < rounds; ++i) {
    (void)co_await from.receive();
    (void)co_await to.send(i);
  }
}

PERF_TEST_F_WITH(SyncPerf, ChannelRoundTripOfFibers, .items_per_call = rounds) {
  IntChannel there, back;
  side_by_side([&] { send_and_receive(there, back); }, [&] { receive_and_send(there, back); });
}
PERF_TEST_F_WITH(SyncPerf, BufferedChannelRoundTripOfFibers, .items_per_call = rounds) {
  IntChannel there(1), back(1);
  side_by_side([&] { send_and_receive(there, back); }, [&] { receive_and_send(there, back); });
}
PERF_TEST_F_WITH(SyncPerf, ChannelRoundTripOfCoroutines, .items_per_call = rounds) {
  IntChannel there, back;
  side_by_side([&] { return send_and_receive_as_task(there, back); },
               [&] { return receive_and_send_as_task(there, back); });
}
PERF_TEST_F_WITH(SyncPerf, ChannelRoundTripOfAFiberAndACoroutine, .items_per_call = rounds) {
  IntChannel there, back;
  side_by_side([&] { send_and_receive(there, back); },
               [&] { return receive_and_send_as_task(there, back); });
}

class SyncAcrossPerf : public SyncPerf {
 protected:
  SyncAcrossPerf() : SyncPerf(2) {}
  template <class First, class Second>
  void on_two_workers(First first, Second second) {
    std::thread other([&] { runtime_->run(second, 1); });
    runtime_->run(first, 0);
    other.join();
  }
};

PERF_TEST_F_WITH(SyncAcrossPerf, ChannelRoundTrip, .items_per_call = rounds) {
  IntChannel there, back;
  on_two_workers([&] { send_and_receive(there, back); }, [&] { receive_and_send(there, back); });
}
// Many messages on their way at once, as between the stages of a pipeline.
PERF_TEST_F_WITH(SyncAcrossPerf, ChannelOneWay, .items_per_call = rounds) {
  IntChannel channel(256);
  on_two_workers(
      [&] {
        for (int i = 0; i < rounds; ++i) SENNIT_ASSERT(wait(channel.send(i)).has_value());
      },
      [&] {
        for (int i = 0; i < rounds; ++i) SENNIT_ASSERT(wait(channel.receive()).has_value());
      });
}

#ifdef SENNIT_HAS_BOOST_FIBER
class BoostFiberPerf : public testing::Test {
 protected:
  template <class First, class Second>
  void side_by_side(First first, Second second) {
    boost::fibers::fiber one(first), two(second);
    one.join();
    two.join();
  }
};
PERF_TEST_F_WITH(BoostFiberPerf, LockAndUnlock, .items_per_call = rounds) {
  boost::fibers::mutex mutex;
  for (int i = 0; i < rounds; ++i) {
    const std::lock_guard guard(mutex);
  }
}
PERF_TEST_F_WITH(BoostFiberPerf, MutexHandOver, .items_per_call = 2 * rounds) {
  boost::fibers::mutex mutex;
  const auto half = [&mutex] {
    for (int i = 0; i < rounds; ++i) {
      const std::lock_guard guard(mutex);
      boost::this_fiber::yield();  // It hands nothing over: only so does the other get it.
    }
  };
  side_by_side(half, half);
}
PERF_TEST_F_WITH(BoostFiberPerf, ChannelRoundTrip, .items_per_call = rounds) {
  boost::fibers::unbuffered_channel<int> there, back;
  side_by_side(
      [&] {
        for (int i = 0; i < rounds; ++i) {
          there.push(i);
          back.value_pop();
        }
      },
      [&] {
        for (int i = 0; i < rounds; ++i) {
          there.value_pop();
          back.push(i);
        }
      });
}
#endif

}  // namespace
}  // namespace sennit::runtime
