// A small service and its client, cancelled at each of the points where they wait in turn: it must
// end every time, without an answer that is wrong and with nothing left behind.

#include <memory>
#include <string>
#include <utility>

#include "sennit/net/tcp.hpp"
#include "sennit/runtime/joinable.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/shield.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/timeout.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::net {
namespace {

using namespace std::chrono_literals;
using runtime::Activity;
using runtime::Joinable;
using runtime::Waiter;
using runtime::Worker;

/// Counts the waits of the program, and cancels its root while it is in the one that is asked for.
struct CancelPoints {
  int passed = 0;
  int cancel_at = 0;  // From 1; 0: never.
  Activity* root = nullptr;

  void pass() {
    if (++passed != cancel_at) return;
    Worker::here().post([this] {
      if (root != nullptr) root->cancel();
    });
  }
};

template <class A>
class CancelPoint {
 public:
  CancelPoint(CancelPoints& points, A awaitable)
      : points_(points), awaitable_(std::move(awaitable)) {}
  bool ready() { return awaitable_.ready(); }
  bool start(Waiter& waiter) {
    if (!awaitable_.start(waiter)) return false;
    points_.pass();
    return true;
  }
  void cancel() { awaitable_.cancel(); }
  auto take() { return awaitable_.take(); }

 private:
  CancelPoints& points_;
  A awaitable_;
};

/// What every part of the program holds while it runs.
using Held = std::shared_ptr<int>;

class CancelEverywhereTest : public runtime::testing::BackendTest {
 protected:
  template <class A>
  CancelPoint<A> at(A awaitable) {
    return {points, std::move(awaitable)};
  }

  /// On a fiber: answers each line with itself, in time or not at all.
  Result<void> serve_one(TcpListener& listener, Held) {
    SENNIT_TRY(TcpStream stream, wait(at(listener.accept())));
    char room[64];
    SENNIT_TRY(const std::size_t bytes, wait(timeout_after(1h, at(stream.read(room)))));
    if (const Result<void> slept = wait(at(sleep_for(100us))); !slept) {
      return failure(slept.error());
    }
    SENNIT_TRY(std::size_t sent, wait(shield(at(stream.write({room, bytes})))));
    if (sent != bytes) return failure(Errc::closed);
    return {};
  }
  /// A coroutine.
  Task<Result<std::string>> ask(Address address, Held) {
    auto connecting = at(connect(address));
    Result<TcpStream> stream = co_await connecting;
    if (!stream) co_return failure(stream.error());
    auto writing = at(stream->write("question"));
    const Result<std::size_t> sent = co_await writing;
    if (!sent) co_return failure(sent.error());
    std::string answer;
    while (answer.size() < 8) {
      char room[3];
      auto reading = at(stream->read(room));
      const Result<std::size_t> bytes = co_await reading;
      if (!bytes) co_return failure(bytes.error());
      if (*bytes == 0) co_return failure(Errc::closed, "read an answer");
      answer.append(room, *bytes);
    }
    auto resting = at(yield());
    co_await resting;
    co_return answer;
  }

  Result<std::string> program(Held held) {
    points.root = Activity::current();
    SENNIT_TRY(TcpListener listener, TcpListener::listen(*Address::parse("127.0.0.1:0")));
    runtime::Scope scope;
    Joinable<Result<void>> server =
        scope.spawn_joinable([this, &listener, held] { return serve_one(listener, held); });
    Joinable<Result<std::string>> client = scope.spawn_joinable(
        [this, address = listener.address(), held] { return ask(address, held); });
    scope.spawn("nested", [this, held] {
      runtime::Scope inner;
      inner.spawn([this, held] { static_cast<void>(wait(at(sleep_for(50us)))); });
      static_cast<void>(wait(at(inner.join())));
    });
    Result<std::string> answer = wait(at(client.join()));
    const Result<void> served = wait(at(server.join()));
    const Result<void> joined = wait(shield(scope.join()));
    points.root = nullptr;
    if (answer && !served) return failure(served.error());
    if (answer && !joined) return failure(joined.error());
    return answer;
  }

  CancelPoints points;
};

TEST_P(CancelEverywhereTest, EndsFromAnyPointAndLeavesNothingBehind) {
  runtime().run([&] {
    Worker& worker = Worker::here();
    int cancelled = 0, last_point = 1;
    for (int point = 0; point <= last_point; ++point) {
      SCOPED_TRACE(point);
      points = {.passed = 0, .cancel_at = point, .root = nullptr};
      const auto held = std::make_shared<int>();
      runtime::Scope scope;
      Joinable<Result<std::string>> run = scope.spawn_joinable([&] { return program(held); });
      const Result<std::string> answer = wait(run.join());
      static_cast<void>(wait(scope.join()));
      if (answer) {
        EXPECT_EQ(*answer, "question");
      } else {
        ++cancelled;
        EXPECT_EQ(answer.error().code(), Errc::cancelled) << answer.error().to_string();
      }
      if (point == 0) {
        ASSERT_TRUE(answer.has_value()) << answer.error().to_string();
        last_point = points.passed;
      }
      // Sockets are closed when the kernel has ended what was in flight on them.
      while (worker.backend().socket_count() > 0) wait(yield());
      wait(yield());
      EXPECT_EQ(held.use_count(), 1);
      EXPECT_EQ(worker.timers().armed_count(), 0U);
      EXPECT_EQ(worker.busy_fiber_count(), 1U);
    }
    EXPECT_GE(last_point, 8);
    EXPECT_GE(cancelled, last_point / 2) << "most of them were reached";
  });
}

SENNIT_FOR_EACH_BACKEND(CancelEverywhereTest);

}  // namespace
}  // namespace sennit::net
