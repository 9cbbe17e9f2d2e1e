#include "sennit/net/tcp.hpp"

#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "sennit/base/random.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::net {
namespace {

using namespace std::chrono_literals;

class TcpTest : public runtime::testing::BackendTest {
 protected:
  static Address any_port() { return *Address::parse("127.0.0.1:0"); }

  static std::string read_all(TcpStream& stream, std::size_t room_bytes = 1000) {
    std::string all, room(room_bytes, '\0');
    for (;;) {
      const Result<std::size_t> bytes = wait(stream.read(room));
      if (!bytes) return all + "!" + std::string(to_string(bytes.error().code()));
      if (*bytes == 0) return all;
      all.append(room, 0, *bytes);
    }
  }
};

TEST_P(TcpTest, CarriesBytesBothWaysBetweenFibers) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    ASSERT_TRUE(listener.has_value()) << listener.error().to_string();
    Scope scope;
    scope.spawn([&] {
      auto stream = wait(listener->accept());
      ASSERT_TRUE(stream.has_value());
      const std::string heard = read_all(*stream);
      ASSERT_TRUE(wait(stream->write(heard + " to you")).has_value());
    });
    auto stream = wait(connect(listener->address()));
    ASSERT_TRUE(stream.has_value()) << stream.error().to_string();
    EXPECT_EQ(wait(stream->write("hello")), 5U);
    stream->shut_down_writing();
    EXPECT_EQ(read_all(*stream), "hello to you");
    wait(scope.join());
  });
}

TEST_P(TcpTest, CarriesBytesBetweenAFiberAndACoroutine) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    Scope scope;
    scope.spawn([&]() -> Task<> {
      Result<TcpStream> stream = co_await listener->accept();
      std::string room(10, '\0');
      const Result<std::size_t> bytes = co_await stream->read(room);
      co_await stream->write(std::string_view(room).substr(0, *bytes));
    });
    auto stream = wait(connect(listener->address()));
    wait(stream->write("echo"));
    EXPECT_EQ(read_all(*stream), "echo");
    wait(scope.join());
  });
}

// More than any socket buffer holds: writes wait for the reader, reads stop for the consumer.
TEST_P(TcpTest, MovesMegabytesInOrderThroughASlowReader) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    std::string sent(8'000'000, '\0');
    Random random(5);
    for (char& byte : sent) byte = static_cast<char>('a' + random.below(26));
    Scope scope;
    scope.spawn([&] {
      auto stream = wait(listener->accept());
      EXPECT_EQ(wait(stream->write(sent)), sent.size());
    });
    auto stream = wait(connect(listener->address()));
    std::string received, room(10'000, '\0');
    for (int i = 0;; ++i) {
      const Result<std::size_t> bytes = wait(stream->read(room));
      ASSERT_TRUE(bytes.has_value()) << bytes.error().to_string();
      if (*bytes == 0) break;
      received.append(room, 0, *bytes);
      if (i % 100 == 0) wait(sleep_for(1ms));
    }
    wait(scope.join());
    EXPECT_EQ(received.size(), sent.size());
    EXPECT_TRUE(received == sent);
  });
}

TEST_P(TcpTest, NamesTheErrorsOfThePeer) {
  runtime().run([] {
    Address nobody = any_port();
    {
      auto listener = TcpListener::listen(any_port());
      nobody = listener->address();
    }
    wait(sleep_for(1ms));  // The descriptor is closed within a turn.
    auto refused = wait(connect(nobody));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), Errc::connection_refused);
    EXPECT_EQ(refused.error().doing(), "connect to " + nobody.to_string());
  });
}

TEST_P(TcpTest, NamesAReset) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    Scope scope;
    scope.spawn([&] {
      auto stream = wait(listener->accept());
      std::string room(1, '\0');
      wait(stream->read(room));
      // Closing with a byte unread makes the kernel send a reset.
    });
    auto stream = wait(connect(listener->address()));
    wait(stream->write("ab"));
    const std::string ending = read_all(*stream);
    EXPECT_TRUE(ending == "" || ending == "!connection reset by the peer") << ending;
    wait(scope.join());
    Result<std::size_t> last = 1U;
    for (int i = 0; i < 100 && last; ++i) {
      last = wait(stream->write("x"));
      wait(sleep_for(1ms));
    }
    ASSERT_FALSE(last.has_value());
    EXPECT_EQ(last.error().code(), Errc::connection_reset);
  });
}

TEST_P(TcpTest, RefusesAnAddressInUse) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port());
    const auto second = TcpListener::listen(listener->address());
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code(), Errc::already_exists);
    EXPECT_EQ(second.error().doing(), "listen on " + listener->address().to_string());
  });
}

TEST_P(TcpTest, SharesAnAddressWhenAllAskForIt) {
  runtime().run([] {
    auto listener = TcpListener::listen(any_port(), {.reuse_port = true});
    ASSERT_TRUE(listener.has_value());
    EXPECT_TRUE(TcpListener::listen(listener->address(), {.reuse_port = true}).has_value());
  });
}

TEST_P(TcpTest, ServesUnixSocketsAndTakesOverADeadPath) {
  const std::string path =
      "/tmp/sennit-tcp-test-" + std::to_string(::getpid()) + ::testing::PrintToString(GetParam());
  runtime().run([&] {
    const Address address = *Address::parse("unix:" + path);
    {
      ASSERT_TRUE(TcpListener::listen(address).has_value());
    }
    wait(sleep_for(1ms));
    auto listener = TcpListener::listen(address);
    ASSERT_TRUE(listener.has_value()) << listener.error().to_string();
    EXPECT_EQ(TcpListener::listen(address).error().code(), Errc::already_exists)
        << "a living one is not taken over";
    // On the real kernel one more comes: the probe of the refused listen() above.
    const int count = GetParam() == runtime::io::BackendKind::simulated ? 1 : 2;
    Scope scope;
    scope.spawn([&, count] {
      for (int i = 0; i < count; ++i) {
        auto stream = wait(listener->accept());
        if (stream) wait(stream->write("hi"));
      }
    });
    auto stream = wait(connect(address));
    ASSERT_TRUE(stream.has_value());
    EXPECT_EQ(read_all(*stream), "hi");
    wait(scope.join());
  });
  std::remove(path.c_str());
}

TEST_P(TcpTest, TakesConnectionsFasterThanTheyAreAccepted) {
  runtime().run([] {
    constexpr int count = 300;
    auto listener = TcpListener::listen(any_port());
    Scope scope;
    std::vector<Result<TcpStream>> clients;
    for (int i = 0; i < count; ++i) clients.push_back(wait(connect(listener->address())));
    wait(sleep_for(5ms));
    for (int i = 0; i < count; ++i) {
      auto stream = wait(listener->accept());
      ASSERT_TRUE(stream.has_value()) << i;
    }
    for (auto& client : clients) {
      ASSERT_TRUE(client.has_value());
      EXPECT_EQ(read_all(*client), "");
    }
    wait(scope.join());
  });
}

SENNIT_FOR_EACH_BACKEND_AND_SIMULATED(TcpTest);

}  // namespace
}  // namespace sennit::net
