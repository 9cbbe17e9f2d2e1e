#include "sennit/http/server.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using testing::body_of;
using testing::RawClient;
using testing::ServerTest;
using testing::status_of;

TEST_P(ServerTest, AnswersEachKindOfHandler) {
  start();
  RawClient one = client();
  for (const auto& [path, body] : std::vector<std::pair<std::string, std::string>>{
           {"/status", "hello world"},
           {"/coro", "hello coroutine"},
           {"/slow", "slow"},
           {"/slow-coro", "slow coroutine"},
           {"/users/a%2Fb", "user a/b"},
       }) {
    SCOPED_TRACE(path);
    ASSERT_TRUE(one.send(get(path)));
    const std::string response = one.response();
    EXPECT_EQ(status_of(response), 200);
    EXPECT_EQ(body_of(response), body);
  }
}

TEST_P(ServerTest, AnswersPipelinedRequestsInOrder) {
  start();
  const std::vector<std::string> paths = {"/status", "/slow", "/users/1", "/slow-coro",
                                          "/coro",   "/nope", "/echo",    "/users/2"};
  std::string all;
  for (const auto& path : paths) all += get(path);
  RawClient one = client();
  one.send(all);
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < paths.size(); ++i) bodies.emplace_back(body_of(one.response()));
  EXPECT_EQ(bodies[0], "hello world");
  EXPECT_EQ(bodies[1], "slow");
  EXPECT_EQ(bodies[2], "user 1");
  EXPECT_EQ(bodies[3], "slow coroutine");
  EXPECT_EQ(bodies[4], "hello coroutine");
  EXPECT_EQ(bodies[7], "user 2");
}

// More than one batch, more than one receive buffer, more than the unread limit.
TEST_P(ServerTest, AnswersThousandsOfPipelinedRequests) {
  start();
  constexpr int count = 5000;
  std::string all;
  for (int i = 0; i < count; ++i) all += get("/users/" + std::to_string(i));
  RawClient one = client();
  std::jthread sender([&] { one.send(all); });
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(body_of(one.response()), "user " + std::to_string(i));
  }
}

TEST_P(ServerTest, GivesTheSameAnswersHoweverTheBytesAreSplit) {
  start();
  const std::string requests = get("/users/1") +
                               "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello" +
                               "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n"
                               "\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nA: b\r\n\r\n" +
                               get("/coro");
  const auto check = [](RawClient& one) {
    EXPECT_EQ(body_of(one.response()), "user 1");
    EXPECT_EQ(body_of(one.response()), "hello");
    EXPECT_EQ(body_of(one.response()), "abcde");
    EXPECT_EQ(body_of(one.response()), "hello coroutine");
  };
  for (std::size_t split = 0; split <= requests.size(); ++split) {
    SCOPED_TRACE(split);
    RawClient one = client();
    one.send(std::string_view(requests).substr(0, split));
    if (split % 8 == 0) std::this_thread::yield();
    one.send(std::string_view(requests).substr(split));
    check(one);
  }
  RawClient drip = client();
  drip.send_byte_by_byte(requests);
  check(drip);
}

TEST_P(ServerTest, RefusesWithTheStatusThatSaysWhy) {
  options_.body_bytes_max = 100;
  start();
  struct Case {
    std::string request;
    int status;
  };
  const std::string post = "POST /echo HTTP/1.1\r\nHost: t\r\n";
  for (const Case& each : {
           Case{"nonsense\r\n\r\n", 400},
           Case{"GET /status HTTP/1.1\r\n\r\n", 400},
           Case{"GET /status HTTP/1.1\r\nHost: t\r\nHost: u\r\n\r\n", 400},
           Case{"GET /users/%zz HTTP/1.1\r\nHost: t\r\n\r\n", 400},
           Case{"GET /nope HTTP/1.1\r\nHost: t\r\n\r\n", 404},
           Case{"POST /status HTTP/1.1\r\nHost: t\r\n\r\n", 405},
           Case{post + "Content-Length: 101\r\n\r\n", 413},
           Case{post + "Transfer-Encoding: chunked\r\n\r\n65\r\n", 413},
           Case{post + "Transfer-Encoding: chunked\r\n\r\n0x5\r\n", 400},
           Case{post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
           Case{"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: t\r\n\r\n", 414},
           Case{"GET / HTTP/1.1\r\nHost: t\r\nA: " + std::string(40'000, 'a') + "\r\n\r\n", 431},
           Case{"GET /status HTTP/2.0\r\nHost: t\r\n\r\n", 505},
       }) {
    SCOPED_TRACE(each.request.substr(0, 80));
    const std::string response = ask(each.request);
    EXPECT_EQ(status_of(response), each.status) << response;
    EXPECT_NE(response.find("application/problem+json"), std::string::npos);
  }
  EXPECT_NE(
      ask("POST /status HTTP/1.1\r\nHost: t\r\n\r\n").find("\r\nAllow: GET, HEAD, OPTIONS\r\n"),
      std::string::npos);
}

TEST_P(ServerTest, GivesNoSecondAnswerAfterAMessageThatCannotBeTrusted) {
  start();
  RawClient one = client();
  one.send("GET /status HTTP/1.1\r\nHost: t\r\nContent-Length: x\r\n\r\n" + get("/status"));
  const std::string all = one.read_to_end();
  EXPECT_EQ(status_of(all), 400);
  EXPECT_EQ(all.find("HTTP/1.1", 1), std::string::npos);
  EXPECT_NE(all.find("\r\nConnection: close\r\n"), std::string::npos);
}

TEST_P(ServerTest, TurnsWhatHandlersThrowOrFailWithIntoAnswers) {
  server_.get("/throws", [](Request&) -> Response { throw std::runtime_error("secret"); });
  server_.get("/throws-int", [](Request&) -> Response { throw 7; });
  server_.get("/throws-late", [](Request&) -> Response {
    wait(sleep_for(1ms));
    throw std::runtime_error("secret");
  });
  server_.get("/throws-coro", [](Request&) -> Task<Response> {
    throw std::runtime_error("secret");
    co_return text("never");
  });
  server_.get("/throws-coro-late", [](Request&) -> Task<Response> {
    co_await sleep_for(1ms);
    throw std::runtime_error("secret");
    co_return text("never");
  });
  server_.get("/missing",
              [](Request&) -> Result<Response> { return failure(Errc::not_found, "find user 7"); });
  server_.get("/missing-coro", [](Request&) -> Task<Result<Response>> {
    co_await sleep_for(1ms);
    co_return failure(Errc::invalid_argument, "read 'x' as a number");
  });
  server_.get("/broken",
              [](Request&) -> Result<Response> { return failure(Errc::system, "secret"); });
  start();
  RawClient one = client();
  for (const auto& [path, status] : std::vector<std::pair<std::string, int>>{
           {"/throws", 500},
           {"/throws-int", 500},
           {"/throws-late", 500},
           {"/throws-coro", 500},
           {"/throws-coro-late", 500},
           {"/missing", 404},
           {"/missing-coro", 400},
           {"/broken", 500},
           {"/status", 200},
       }) {
    SCOPED_TRACE(path);
    one.send(get(path));
    const std::string response = one.response();
    EXPECT_EQ(status_of(response), status) << "on the same connection, which lives on";
    EXPECT_EQ(response.find("secret"), std::string::npos) << response;
    if (status < 500 && status >= 400) {
      EXPECT_NE(body_of(response).find("detail"), std::string::npos) << response;
    }
  }
}

TEST_P(ServerTest, SendsNoBodyToHead) {
  start();
  RawClient one = client();
  one.send("HEAD /status HTTP/1.1\r\nHost: t\r\n\r\n");
  const std::string head = one.response(true);
  EXPECT_NE(head.find("Content-Length: 11\r\n"), std::string::npos);
  EXPECT_EQ(body_of(head), "");
  one.send(get("/coro"));
  EXPECT_EQ(body_of(one.response()), "hello coroutine");
}

TEST_P(ServerTest, KeepsAliveAsTheVersionAndTheClientSay) {
  start();
  struct Case {
    std::string request;
    bool lives_on;
  };
  for (const Case& each : {
           Case{"GET /status HTTP/1.1\r\nHost: t\r\n\r\n", true},
           Case{"GET /status HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n", false},
           Case{"GET /status HTTP/1.0\r\n\r\n", false},
           Case{"GET /status HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", true},
       }) {
    SCOPED_TRACE(each.request);
    RawClient one = client();
    one.send(each.request);
    EXPECT_EQ(status_of(one.response()), 200);
    one.send(get("/status"));
    EXPECT_EQ(status_of(one.response()), each.lives_on ? 200 : 0);
  }
}

TEST_P(ServerTest, SaysContinueOnlyWhenTheBodyIsWanted) {
  options_.body_bytes_max = 10;
  start();
  RawClient wanted = client();
  wanted.send(
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(wanted.response(), "HTTP/1.1 100 Continue\r\n\r\n");
  wanted.send("hello");
  EXPECT_EQ(body_of(wanted.response()), "hello");
  EXPECT_EQ(status_of(ask("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\n"
                          "Expect: 100-continue\r\n\r\n")),
            413);
}

TEST_P(ServerTest, SendsLargeBodiesWholeAlsoWhenPipelined) {
  static const std::string large(3'000'000, 'x');
  server_.get("/large", [](Request&) { return static_text(large); });
  server_.get("/owned", [](Request&) { return text(std::string(200'000, 'y')); });
  start();
  RawClient one = client();
  one.send(get("/status") + get("/large") + get("/owned") + get("/coro"));
  EXPECT_EQ(body_of(one.response()), "hello world");
  EXPECT_TRUE(body_of(one.response()) == large);
  EXPECT_TRUE(body_of(one.response()) == std::string(200'000, 'y'));
  EXPECT_EQ(body_of(one.response()), "hello coroutine");
}

TEST_P(ServerTest, ReadsBodiesOfManySizes) {
  start();
  RawClient one = client();
  for (const std::size_t bytes : {0, 1, 4095, 8192, 65'536, 1'000'000}) {
    SCOPED_TRACE(bytes);
    const std::string body(bytes, 'b');
    one.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(bytes) +
             "\r\n\r\n" + body);
    EXPECT_TRUE(body_of(one.response()) == body);
  }
}

TEST_P(ServerTest, AnswersWhoeverHalfClosesAfterAsking) {
  start();
  for (const auto* path : {"/status", "/slow", "/slow-coro"}) {
    RawClient one = client();
    one.send(get(path));
    one.half_close();
    EXPECT_EQ(status_of(one.response()), 200) << path;
    EXPECT_TRUE(one.is_ended());
  }
}

TEST_P(ServerTest, SurvivesClientsThatVanishAtAnyMoment) {
  start();
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello" + get("/slow");
  for (std::size_t bytes = 0; bytes <= request.size(); ++bytes) {
    RawClient one = client();
    one.send(std::string_view(request).substr(0, bytes));
    if (bytes % 2 == 0) one.reset();
  }
  EXPECT_EQ(status_of(ask(get("/status"))), 200);
}

TEST_P(ServerTest, AnswersBusyWhenNoFiberIsLeft) {
  options_.fibers_max = 1;
  start();
  RawClient first = client();
  RawClient second = client();
  first.send(get("/slow"));
  std::this_thread::sleep_for(5ms);
  second.send(get("/slow"));
  EXPECT_EQ(status_of(second.response()), 503);
  EXPECT_EQ(status_of(first.response()), 200);
  second.send(get("/slow"));
  EXPECT_EQ(status_of(second.response()), 200) << "once it is free again";
}

TEST_P(ServerTest, ServesOnSeveralWorkers) {
  options_.workers = 3;
  start();
  std::vector<RawClient> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(client());
  for (auto& one : clients) one.send(get("/slow"));
  for (auto& one : clients) EXPECT_EQ(body_of(one.response()), "slow");
}

TEST_P(ServerTest, SaysWhyItCannotStart) {
  start();
  Server second;
  ServerOptions taken = options_;
  taken.port = server_.port();
  const Result<void> refused = second.start(taken);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::already_exists);
  taken.host = "example.org";
  EXPECT_EQ(second.start(taken).error().code(), Errc::invalid_argument);
}

TEST(ServerDeathTest, ShowsBothRoutesThatConflict) {
  EXPECT_DEATH(
      {
        Server server;
        server.get("/users/{id}", [](Request&) { return text(""); });
        server.get("/users/{name}", [](Request&) { return text(""); });
      },
      "/users/\\{id\\}.*/users/\\{name\\}|/users/\\{name\\}.*/users/\\{id\\}");
}

}  // namespace

namespace testing {
SENNIT_FOR_EACH_BACKEND(ServerTest);
}  // namespace testing
}  // namespace sennit::http
