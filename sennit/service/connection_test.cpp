#include "sennit/service/connection.hpp"

#include <gtest/gtest.h>
#include <string>

#include "sennit/net/tcp.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::service {
namespace {

using namespace std::chrono_literals;
using net::TcpListener;
using net::TcpStream;

class ServiceConnectionTest : public runtime::testing::BackendTest {
 protected:
  static net::Address any_port() { return *net::Address::parse("127.0.0.1:0"); }
  static Deadline patience() { return Deadline::after(60s, runtime::Worker::here().clock()); }
  static Deadline soon() { return Deadline::after(20ms, runtime::Worker::here().clock()); }

  static Connection connected(const TcpListener& listener, std::size_t unread_max = 65536) {
    auto connection = Connection::open(listener.address(), unread_max);
    SENNIT_ASSERT(connection.has_value(), connection.error().to_string());
    const auto waited = wait(connection->wait_sent(patience()));
    SENNIT_ASSERT(waited.has_value() && !connection->failure());
    return *std::move(connection);
  }
  static std::string take(Connection& connection, std::size_t bytes) {
    while (connection.received().size() < bytes && !connection.has_ended()) {
      if (!wait(connection.wait_received(connection.received().size(), patience()))) break;
    }
    std::string taken(connection.received().substr(0, bytes));
    connection.consume(taken.size());
    return taken;
  }
};

TEST_P(ServiceConnectionTest, SendsAndReceives) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    Connection connection = connected(*listener);
    auto stream = wait(listener->accept());
    connection.output().append("ping");
    connection.flush();
    std::string room(10, '\0');
    EXPECT_EQ(wait(stream->read(room)), 4U);
    wait(stream->write("pong!"));
    EXPECT_EQ(take(connection, 5), "pong!");
    stream->shut_down_writing();
    EXPECT_TRUE(wait(connection.wait_received(0, patience())).has_value());
    EXPECT_TRUE(connection.has_ended());
    EXPECT_FALSE(connection.end_error().has_value());
  });
}

TEST_P(ServiceConnectionTest, SaysWhyItCouldNotConnect) {
  runtime().run([] {
    net::Address nobody = any_port();
    {
      auto listener = TcpListener::listen(any_port());
      nobody = listener->address();
    }
    wait(sleep_for(1ms));
    auto connection = Connection::open(nobody);
    ASSERT_TRUE(connection.has_value());
    EXPECT_TRUE(wait(connection->wait_sent(patience())).has_value());
    ASSERT_TRUE(connection->failure().has_value());
    EXPECT_EQ(connection->failure()->code(), Errc::connection_refused);
  });
}

TEST_P(ServiceConnectionTest, EndsAWaitAtItsDeadlineAndGoesOnAfterwards) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    Connection connection = connected(*listener);
    auto stream = wait(listener->accept());
    const auto waited = wait(connection.wait_received(0, soon()));
    ASSERT_FALSE(waited.has_value());
    EXPECT_EQ(waited.error().code(), Errc::timed_out);
    const Deadline past = Deadline::at(runtime::Worker::here().now() - 1s);
    EXPECT_EQ(wait(connection.wait_received(0, past)).error().code(), Errc::timed_out);
    wait(stream->write("late"));
    EXPECT_EQ(take(connection, 4), "late");
  });
}

TEST_P(ServiceConnectionTest, EndsACancelledWaitOnce) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    Connection connection = connected(*listener);
    auto waiting = connection.wait_received(0, patience());
    Scope scope;
    scope.spawn([&] {
      wait(yield());
      waiting.cancel();
      waiting.cancel();
    });
    const auto waited = wait(waiting);
    ASSERT_FALSE(waited.has_value());
    EXPECT_EQ(waited.error().code(), Errc::cancelled);
    wait(scope.join());
  });
}

// The answer of a server that does not read: only waiting for both finds it.
TEST_P(ServiceConnectionTest, SeesAnAnswerWhileItStillSends) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    Connection connection = connected(*listener);
    auto stream = wait(listener->accept());
    const auto large = std::make_shared<std::string>(64'000'000, 'x');
    connection.send(*large, large);
    EXPECT_TRUE(connection.is_sending());
    wait(stream->write("enough"));
    EXPECT_TRUE(wait(connection.wait_any(0, patience())).has_value());
    EXPECT_TRUE(connection.is_sending());
    EXPECT_EQ(connection.received(), "enough");
    EXPECT_GT(connection.transferred(), 0U);
  });
}

TEST_P(ServiceConnectionTest, KeepsWhatItSendsWhenItIsDestroyedMeanwhile) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    std::weak_ptr<const std::string> kept;
    {
      Connection connection = connected(*listener);
      auto large = std::make_shared<const std::string>(64'000'000, 'x');
      kept = large;
      connection.send(*large, large);
      large.reset();
      EXPECT_FALSE(kept.expired());
    }
    for (int i = 0; i < 10'000 && !kept.expired(); ++i) wait(sleep_for(1ms));
    EXPECT_TRUE(kept.expired()) << "and lets go of it afterwards";
  });
}

TEST_P(ServiceConnectionTest, TakesNoMoreThanItIsToldUntilItIsConsumed) {
  runtime().run([] {
    constexpr std::size_t total = 20'000'000;
    auto listener = TcpListener::listen(any_port());
    Connection connection = connected(*listener, 10'000);
    Scope scope;
    scope.spawn([&] {
      auto stream = wait(listener->accept());
      EXPECT_EQ(wait(stream->write(std::string(total, 'y'))), total);
    });
    std::size_t received = 0;
    while (received < total) {
      ASSERT_TRUE(wait(connection.wait_received(0, patience())).has_value());
      const std::size_t bytes = connection.received().size();
      // One turn of either backend may bring many of its buffers, but not the whole.
      EXPECT_LT(bytes, std::size_t{4} * 1024 * 1024);
      received += bytes;
      connection.consume(bytes);
      ASSERT_FALSE(connection.has_ended() && received < total);
    }
    EXPECT_EQ(received, total);
    wait(scope.join());
  });
}

TEST_P(ServiceConnectionTest, TellsWhenItStirsWhileIdle) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    for (const bool closes : {true, false}) {
      std::optional<Connection> connection = connected(*listener);
      auto stream = wait(listener->accept());
      int stirred = 0;
      connection->start_idling([&] {
        ++stirred;
        connection.reset();
      });
      if (closes) {
        stream->shut_down_writing();
      } else {
        wait(stream->write("unasked"));
      }
      for (int i = 0; i < 10'000 && stirred == 0; ++i) wait(sleep_for(1ms));
      EXPECT_EQ(stirred, 1) << closes;
    }
  });
}

SENNIT_FOR_EACH_BACKEND(ServiceConnectionTest);

}  // namespace
}  // namespace sennit::service
