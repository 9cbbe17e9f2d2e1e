#include "sennit/runtime/runtime.hpp"

#include <memory>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <string>

#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

TEST(RuntimeStart, RefusesWhatItCannotDo) {
  for (const unsigned workers : {0U, 1025U}) {
    const auto refused = Runtime::start({.workers = workers});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
  }
}

class RuntimeTest : public testing::BackendTest {
 protected:
  [[nodiscard]] RuntimeOptions options() const override {
    RuntimeOptions wanted = BackendTest::options();
    wanted.workers = workers_;
    wanted.pin = pin_;
    wanted.stacks.on_loan_max = stacks_;
    return wanted;
  }
  unsigned workers_ = 1;
  bool pin_ = false;
  std::size_t stacks_ = 100;
};
using RuntimeDeathTest = RuntimeTest;

TEST_P(RuntimeTest, ThrowsWhatTheFunctionThrows) {
  EXPECT_THROW(runtime().run([] { throw std::runtime_error("on a fiber"); }), std::runtime_error);
  const auto task = []() -> Task<int> {
    co_await yield();
    throw std::logic_error("in a coroutine");
  };
  EXPECT_THROW(runtime().run(task), std::logic_error);
  EXPECT_EQ(runtime().run([] { return 1; }), 1) << "and goes on";
}

TEST_P(RuntimeTest, ReturnsWhatTheFunctionReturns) {
  EXPECT_EQ(runtime().run([] { return 42; }), 42);
  EXPECT_EQ(*runtime().run([] { return std::make_unique<int>(7); }), 7);
  EXPECT_EQ(runtime().run([]() -> Task<std::string> {
    co_await sleep_for(100us);
    co_return "slept";
  }),
            "slept");
  bool ran = false;
  runtime().run([&]() -> Task<> {
    ran = true;
    co_return;
  });
  EXPECT_TRUE(ran);
}

TEST_P(RuntimeTest, RunsOnTheWorkerThatIsNamed) {
  for (const unsigned workers : {1U, 2U, 4U}) {
    workers_ = workers;
    stop_runtime();
    EXPECT_EQ(runtime().worker_count(), workers);
    std::set<std::thread::id> threads;
    for (unsigned i = 0; i < workers; ++i) {
      threads.insert(runtime().run([] { return std::this_thread::get_id(); }, i));
      EXPECT_EQ(runtime().run([] { return Worker::here().index(); }, i), i);
      EXPECT_EQ(runtime().run([] { return Worker::current(); }, i), &runtime().worker(i));
    }
    EXPECT_EQ(threads.size(), workers);
    EXPECT_EQ(Worker::current(), nullptr);
  }
}

TEST_P(RuntimeTest, PinsEachWorkerToOneCpu) {
  workers_ = 2;
  pin_ = true;
  const auto allowed = [] {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    ::sched_getaffinity(0, sizeof cpus, &cpus);
    return cpus;
  };
  const cpu_set_t ours = allowed();
  cpu_set_t first = runtime().run(allowed, 0), second = runtime().run(allowed, 1);
  EXPECT_EQ(CPU_COUNT(&first), 1);
  EXPECT_EQ(CPU_COUNT(&second), 1);
  EXPECT_EQ(CPU_EQUAL(&first, &second), CPU_COUNT(&ours) == 1);
  cpu_set_t afterwards = allowed();
  EXPECT_TRUE(CPU_EQUAL(&ours, &afterwards)) << "the caller stays where it was";
}

TEST_P(RuntimeTest, WaitsForAStackWhenAllAreInUse) {
  stacks_ = 1;
  std::thread longer([&, &shared = runtime()] {
    shared.run([] {
      for (int i = 0; i < 10; ++i) wait(sleep_for(100us));
    });
  });
  EXPECT_EQ(runtime().run([] { return 1; }), 1);
  longer.join();
}

TEST_P(RuntimeTest, CanBeStoppedBeforeItIsDestroyed) {
  runtime().run([] {});
  runtime().stop();
  runtime().stop();
  stop_runtime();
}

TEST_P(RuntimeTest, FreesFramesThatOutliveItsWorkers) {
  const auto counted = std::make_shared<int>();
  std::unique_ptr<Task<>> left_over;
  runtime().run([&] {
    left_over =
        std::make_unique<Task<>>([](std::shared_ptr<int>) -> Task<> { co_return; }(counted));
  });
  runtime().stop();
  EXPECT_EQ(counted.use_count(), 2);
  left_over.reset();
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_P(RuntimeTest, DrawsTheSameRandomNumbersFromTheSameSeed) {
  workers_ = 2;
  std::uint64_t drawn[2][2];
  for (auto& numbers : drawn) {
    stop_runtime();
    for (unsigned i : {0U, 1U}) {
      numbers[i] = runtime().run([] { return Worker::here().random().next(); }, i);
    }
    EXPECT_NE(numbers[0], numbers[1]);
  }
  EXPECT_EQ(drawn[0][0], drawn[1][0]);
  EXPECT_EQ(drawn[0][1], drawn[1][1]);
}

TEST_P(RuntimeDeathTest, StopsAtMisuse) {
  const auto started = [this] { return *Runtime::start(options()); };
  const auto on_a_worker = [&] {
    const auto own = started();
    own->run([&] { own->run([] {}); });
  };
  EXPECT_DEATH(on_a_worker(), "would block a worker");
  const auto after_stop = [&] {
    const auto own = started();
    own->stop();
    own->run([] {});
  };
  EXPECT_DEATH(after_stop(), "after stop");
  const auto beyond_the_last = [&] { started()->run([] {}, 1); };
  EXPECT_DEATH(beyond_the_last(), "index < workers_.size");
}

SENNIT_FOR_EACH_BACKEND(RuntimeTest);
SENNIT_FOR_EACH_BACKEND(RuntimeDeathTest);

}  // namespace
}  // namespace sennit::runtime
