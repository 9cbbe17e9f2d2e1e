#include <chrono>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime::io {
namespace {

using namespace std::chrono_literals;

using WokenTest = runtime::testing::BackendTest;

// Remembers what time it was for whoever was completed.
struct TimedReceive : Operation {
  explicit TimedReceive(Worker& w)
      : Operation([](Operation& operation, const Completion& completion) {
          auto& self = static_cast<TimedReceive&>(operation);
          if (completion.result <= 0) return;
          self.completed_at = self.worker.now();
          self.is_done = true;
        }),
        worker(w) {}
  Worker& worker;
  TimePoint completed_at;
  std::atomic<bool> is_done = false;
};

// A worker that was idle for long must not take a peer's first byte for an old one.
TEST_P(WokenTest, CompletionsSeeTheTimeOfWhatHappenedNotOfBeforeTheWait) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  Worker& worker = runtime().worker(0);
  TimedReceive receive(worker);
  Socket socket;
  runtime().run([&] {
    socket = *worker.backend().adopt(ends[0]);
    worker.backend().receive(receive, socket);
  });
  std::this_thread::sleep_for(20ms);  // For it to wait; if it does not, the test passes anyway.
  const TimePoint before = RealClock().now();
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  for (int i = 0; i < 60'000 && !receive.is_done; ++i) std::this_thread::sleep_for(1ms);
  ASSERT_TRUE(receive.is_done) << "nothing was received in 60 s";
  EXPECT_GE(receive.completed_at, before);
  runtime().run([&] { worker.backend().close(socket); });
  ::close(ends[1]);
  stop_runtime();
}

SENNIT_FOR_EACH_BACKEND(WokenTest);

}  // namespace
}  // namespace sennit::runtime::io
