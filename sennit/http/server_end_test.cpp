// How connections and servers end: limits of time and number, hostile clients, graceful stops.

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <vector>

#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using testing::body_of;
using testing::RawClient;
using testing::status_of;

}  // namespace

namespace testing {

class ServerEndTest : public ServerTest {};

TEST_P(ServerEndTest, ClosesConnectionsThatSayNothing) {
  options_.first_byte_timeout = 30ms;
  start();
  RawClient silent = client();
  EXPECT_EQ(silent.read_to_end(), "");
}

TEST_P(ServerEndTest, ClosesIdleConnections) {
  options_.idle_timeout = 30ms;
  start();
  RawClient one = client();
  one.send(get("/status"));
  EXPECT_EQ(status_of(one.response()), 200);
  EXPECT_TRUE(one.is_ended());
}

TEST_P(ServerEndTest, AnswersATimeoutToSlowHeadsAndBodies) {
  options_.head_timeout = 40ms;
  options_.body_timeout = 40ms;
  start();
  RawClient head = client();
  head.send("GET /sta");
  EXPECT_EQ(status_of(head.read_to_end()), 408);
  RawClient body = client();
  body.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhe");
  EXPECT_EQ(status_of(body.read_to_end()), 408);
}

// Each drip restarts no clock: the whole head has one deadline.
TEST_P(ServerEndTest, GivesADrippingHeadNoMoreTimeThanAnother) {
  options_.head_timeout = 60ms;
  start();
  RawClient drip = client();
  drip.send("GET /status HTTP/1.1\r\n");
  int drips = 0;
  for (; drips < 100; ++drips) {
    if (!drip.send("A: b\r\n")) break;
    std::this_thread::sleep_for(5ms);
    char byte = 0;
    if (::recv(drip.descriptor(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) >= 0) break;
  }
  EXPECT_EQ(status_of(drip.response()), 408);
  EXPECT_LT(drips, 100) << "each of them would have moved the end on";
}

TEST_P(ServerEndTest, ClosesWhoeverDoesNotReadItsAnswers) {
  static const std::string large(16'000'000, 'x');
  options_.write_timeout = 50ms;
  server_.get("/large", [](Request&) { return static_text(large); });
  start();
  RawClient lazy = client();
  lazy.send(get("/large"));
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(lazy.read_to_end().size(), large.size());
  EXPECT_EQ(status_of(ask(get("/status"))), 200);
}

// A peer that is slow but moves is not cut off, however long the whole takes.
TEST_P(ServerEndTest, LetsASlowReaderFinish) {
  static const std::string large(6'000'000, 'x');
  options_.write_timeout = 100ms;
  server_.get("/large", [](Request&) { return static_text(large); });
  start();
  RawClient slow = client();
  slow.send(get("/large"));
  std::string all;
  std::vector<char> room(300'000);
  while (all.size() < large.size()) {
    const ssize_t bytes = ::recv(slow.descriptor(), room.data(), room.size(), 0);
    ASSERT_GT(bytes, 0) << "after " << all.size();
    all.append(room.data(), static_cast<std::size_t>(bytes));
    std::this_thread::sleep_for(10ms);
  }
}

TEST_P(ServerEndTest, HoldsBoundedMemoryForAClientThatPipelinesAndNeverReads) {
  options_.write_timeout = 200ms;
  start();
  RawClient greedy = client();
  std::string batch;
  for (int i = 0; i < 1000; ++i) batch += get("/status");
  const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
  ::setsockopt(greedy.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::size_t batches = 0;
  while (batches < 10'000 && greedy.send(batch)) ++batches;
  EXPECT_LT(batches, 10'000U) << "the server stops reading, so sending stops too";
  EXPECT_EQ(status_of(ask(get("/status"))), 200);
}

TEST_P(ServerEndTest, PausesAcceptingAtItsConnectionLimit) {
  options_.connections_max = 2;
  start();
  RawClient first = client();
  RawClient second = client();
  for (RawClient* one : {&first, &second}) {
    one->send(get("/status"));
    ASSERT_EQ(status_of(one->response()), 200);
  }
  RawClient third = client();
  third.send(get("/status"));
  std::this_thread::sleep_for(20ms);
  char byte = 0;
  EXPECT_EQ(::recv(third.descriptor(), &byte, 1, MSG_DONTWAIT), -1) << "it waits in the kernel";
  first.reset();
  second.reset();
  EXPECT_EQ(status_of(third.response()), 200) << "until there is room";
}

TEST_P(ServerEndTest, FinishesWhatIsBeingHandledWhenStopped) {
  start();
  RawClient busy = client();
  busy.send(get("/slow") + get("/status"));
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(stop(), 0U);
  const std::string first = busy.response();
  EXPECT_EQ(body_of(first), "slow");
  EXPECT_EQ(first.find("Connection: close"), std::string::npos);
  const std::string last = busy.response();
  EXPECT_EQ(body_of(last), "hello world") << "it had arrived, so it is answered";
  EXPECT_NE(last.find("Connection: close"), std::string::npos);
  EXPECT_TRUE(busy.is_ended());
}

TEST_P(ServerEndTest, ClosesIdleConnectionsAndTheListenerWhenStopped) {
  start();
  const std::uint16_t port = server_.port();
  RawClient idle = client();
  idle.send(get("/status"));
  EXPECT_EQ(status_of(idle.response()), 200);
  RawClient silent = client();
  EXPECT_EQ(stop(), 0U);
  EXPECT_TRUE(idle.is_ended());
  EXPECT_TRUE(silent.is_ended());
  EXPECT_FALSE(RawClient(port).is_connected());
}

// Under load from several threads: every request that was sent is answered, unless the server had
// announced the end on that connection before.
TEST_P(ServerEndTest, DropsNoResponseWhenStoppedUnderLoad) {
  options_.workers = 2;
  options_.drain_idle_timeout = 500ms;
  start();
  std::atomic<int> answered = 0, dropped = 0;
  std::atomic<bool> is_stopping = false;
  const std::uint16_t port = server_.port();
  std::vector<std::jthread> clients;
  for (int t = 0; t < 8; ++t) {
    clients.emplace_back([&, t] {
      for (;;) {
        RawClient one(port);
        if (!one.is_connected()) return;
        for (bool goes_on = true; goes_on;) {
          one.send(get(t % 2 == 0 ? "/status" : "/slow"));
          const std::string response = one.response();
          if (status_of(response) != 200) {
            ++dropped;
            return;
          }
          ++answered;
          goes_on = response.find("Connection: close") == std::string::npos;
        }
        if (is_stopping) return;
      }
    });
  }
  std::this_thread::sleep_for(100ms);
  is_stopping = true;
  EXPECT_EQ(stop(), 0U);
  clients.clear();
  EXPECT_EQ(dropped, 0);
  EXPECT_GT(answered, 0);
}

TEST_P(ServerEndTest, CutsOffAtTheDrainDeadlineWhatDoesNotRead) {
  static const std::string large(16'000'000, 'x');
  options_.drain_timeout = 300ms;
  server_.get("/large", [](Request&) { return static_text(large); });
  start();
  RawClient lazy = client();
  lazy.send(get("/large"));
  std::this_thread::sleep_for(20ms);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(stop(), 1U);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 25s) << "long before the write timeout";
}

SENNIT_FOR_EACH_BACKEND(ServerEndTest);

}  // namespace testing
}  // namespace sennit::http
