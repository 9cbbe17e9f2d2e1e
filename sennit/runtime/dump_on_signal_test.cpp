#include "sennit/runtime/dump_on_signal.hpp"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>

#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime {
namespace {

using namespace std::chrono_literals;

class DumpOnSignalTest : public testing::BackendTest {};

/// Collects what is dumped, and waits for it.
class Dumps {
 public:
  DumpOnSignal::Sink sink() {
    return [this](const std::string& text) {
      const std::lock_guard lock(mutex_);
      text_ += text;
      changed_.notify_one();
    };
  }
  [[nodiscard]] bool await(const std::string& part) {
    std::unique_lock lock(mutex_);
    const bool came =
        changed_.wait_for(lock, 60s, [&] { return text_.find(part) != std::string::npos; });
    EXPECT_TRUE(came) << part << " in " << text_;
    text_.clear();
    return came;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

TEST_P(DumpOnSignalTest, PrintsEveryActivityAndGoesOn) {
  Dumps dumps;
  Runtime& both = runtime();
  for (int round = 0; round < 2; ++round) {
    const DumpOnSignal dump(both, SIGQUIT, dumps.sink());
    both.run([&] {
      Scope scope;
      scope.spawn("sleeper", [] { wait(sleep_for(24h)); });
      wait(yield());
      std::raise(SIGQUIT);
      // The worker has to answer meanwhile, so somebody else waits.
      scope.spawn_on(both.worker(1), [&] { EXPECT_TRUE(dumps.await("\"sleeper\" on worker 0")); });
      while (scope.running_count() > 1) wait(sleep_for(1ms));
      scope.cancel();
      wait(scope.join());
    });
  }
}

TEST_P(DumpOnSignalTest, PutsBackWhatHandledTheSignalBefore) {
  struct sigaction before{}, after{};
  ::sigaction(SIGUSR2, nullptr, &before);
  {
    const DumpOnSignal dump(runtime(), SIGUSR2);
  }
  ::sigaction(SIGUSR2, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

TEST_P(DumpOnSignalTest, IsAnOptionOfTheRuntime) {
  RuntimeOptions wanted = options();
  wanted.dump_on_sigquit = true;
  struct sigaction before{}, during{}, after{};
  ::sigaction(SIGQUIT, nullptr, &before);
  {
    const auto started = Runtime::start(wanted);
    ASSERT_TRUE(started.has_value());
    ::sigaction(SIGQUIT, nullptr, &during);
  }
  ::sigaction(SIGQUIT, nullptr, &after);
  EXPECT_NE(before.sa_handler, during.sa_handler);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

SENNIT_FOR_EACH_BACKEND(DumpOnSignalTest);

}  // namespace
}  // namespace sennit::runtime
