// What cancelling does to streams and listeners: nothing is lost by it.

#include <string>

#include "sennit/net/tcp.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::net {
namespace {

using namespace std::chrono_literals;
using runtime::Activity;

class TcpCancelTest : public runtime::testing::BackendTest {
 protected:
  /// A connection within this process: what listens, one end, the other end.
  struct Pair {
    TcpListener listener;
    TcpStream near, far;
  };
  static Pair connect_pair() {
    auto listener = TcpListener::listen(*Address::parse("127.0.0.1:0"));
    SENNIT_ASSERT(listener.has_value());
    auto near = wait(connect(listener->address()));
    auto far = wait(listener->accept());
    SENNIT_ASSERT(near.has_value() && far.has_value());
    return {std::move(*listener), std::move(*near), std::move(*far)};
  }
  /// Cancels what waits at `awaitable` once it does, on a fiber and as a coroutine.
  template <class Make>
  static void expect_cancelled(Make make) {
    Activity* subject = nullptr;
    const auto expect = [](const auto& result) {
      ASSERT_FALSE(result.has_value());
      EXPECT_EQ(result.error().code(), Errc::cancelled) << result.error().to_string();
    };
    runtime::Scope scope;
    scope.spawn([&] {
      subject = Activity::current();
      expect(wait(make()));
      expect(wait(make()));
    });
    while (subject == nullptr || subject->waits_for() == nullptr) wait(yield());
    subject->cancel();
    wait(scope.join());
    subject = nullptr;
    scope.spawn([&]() -> Task<> {
      subject = Activity::current();
      auto first = make();
      expect(co_await first);
      auto second = make();
      expect(co_await second);
    });
    while (subject == nullptr || subject->waits_for() == nullptr) wait(yield());
    subject->cancel();
    wait(scope.join());
  }
};

TEST_P(TcpCancelTest, LosesNoByteByCancelledReads) {
  runtime().run([] {
    Pair pair = connect_pair();
    char room[16];
    expect_cancelled([&] { return pair.near.read(room); });
    ASSERT_EQ(wait(pair.far.write("hello")), 5U);
    std::string read;
    while (read.size() < 5) {
      const Result<std::size_t> bytes = wait(pair.near.read(room));
      ASSERT_TRUE(bytes.has_value());
      read.append(room, *bytes);
    }
    EXPECT_EQ(read, "hello");
  });
}

TEST_P(TcpCancelTest, LosesNoConnectionByCancelledAccepts) {
  runtime().run([] {
    Pair pair = connect_pair();
    expect_cancelled([&] { return pair.listener.accept(); });
    auto near = wait(connect(pair.listener.address()));
    ASSERT_TRUE(near.has_value());
    EXPECT_TRUE(wait(pair.listener.accept()).has_value());
  });
}

TEST_P(TcpCancelTest, TellsHowMuchACancelledWriteHadSent) {
  runtime().run([] {
    Pair pair = connect_pair();
    const std::string much(std::size_t{64} << 20, 'x');
    Activity* writer = nullptr;
    std::size_t sent = much.size();
    runtime::Scope scope;
    scope.spawn([&] {
      writer = Activity::current();
      auto write = pair.near.write(much);
      const Result<std::size_t> result = wait(write);
      ASSERT_FALSE(result.has_value());
      EXPECT_EQ(result.error().code(), Errc::cancelled) << result.error().to_string();
      sent = write.sent();
    });
    while (writer == nullptr || writer->waits_for() == nullptr) wait(yield());
    EXPECT_STREQ(writer->waits_for(), "room in a stream");
    writer->cancel();
    wait(scope.join());
    EXPECT_LT(sent, much.size());
    pair.near.shut_down_writing();
    std::size_t received = 0;
    std::string room(1 << 16, '\0');
    for (;;) {
      const Result<std::size_t> bytes = wait(pair.far.read(room));
      ASSERT_TRUE(bytes.has_value());
      if (*bytes == 0) break;
      received += *bytes;
    }
    EXPECT_EQ(received, sent);
  });
}

TEST_P(TcpCancelTest, EndsAConnectThatWasCancelledBeforeItBegan) {
  runtime().run([] {
    Pair pair = connect_pair();
    runtime::Scope scope;
    scope.spawn([&] {
      Activity::here().cancel();
      // Within one machine a connection may be there at once: then it is the result that counts.
      const auto stream = wait(connect(pair.listener.address()));
      EXPECT_TRUE(stream || stream.error().code() == Errc::cancelled);
    });
    wait(scope.join());
  });
}

SENNIT_FOR_EACH_BACKEND(TcpCancelTest);

}  // namespace
}  // namespace sennit::net
