#include "sennit/http/routes.hpp"

#include <gtest/gtest.h>
#include <string>

#include "sennit/http/response_stream.hpp"
#include "sennit/http/testing/server_test_fixture.hpp"
#include "sennit/metrics/exposition.hpp"
#include "sennit/runtime/shield.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using testing::body_of;
using testing::RawClient;
using testing::status_of;

using RoutesTest = testing::ServerTest;

TEST_P(RoutesTest, LimitsOfARouteComeBeforeThoseOfItsGroupsBeforeTheServers) {
  options_.body_bytes_max = 10;
  const auto echo = [](Request& request) { return text(std::string(request.body())); };
  Routes& group = server_.group("/g").body_limit(5);
  group.post("/small", echo);
  group.post("/large", echo).body_limit(20);
  group.group("/inner").post("/small", echo);
  server_.post("/usual", echo);
  start();
  const auto status = [&](const std::string& path, std::size_t bytes) {
    return status_of(ask("POST " + path + " HTTP/1.1\r\nHost: t\r\nContent-Length: " +
                         std::to_string(bytes) + "\r\n\r\n" + std::string(bytes, 'x')));
  };
  EXPECT_EQ(status("/g/small", 5), 200);
  EXPECT_EQ(status("/g/small", 6), 413);
  EXPECT_EQ(status("/g/inner/small", 6), 413);
  EXPECT_EQ(status("/g/large", 20), 200);
  EXPECT_EQ(status("/g/large", 21), 413);
  EXPECT_EQ(status("/usual", 10), 200);
  EXPECT_EQ(status("/usual", 11), 413);
}

// A serve timeout that does not stop the handler was no timeout.
TEST_P(RoutesTest, ATimeoutCancelsTheHandlerAndAnswers503) {
  static std::atomic<int> cancelled = 0;
  cancelled = 0;
  server_
      .get("/plain",
           [](Request&) {
             wait(sleep_for(1h));
             if (Activity::here().is_cancelled()) ++cancelled;
             return text("late");
           })
      .timeout(20ms);
  server_.group("/g").timeout(20ms).get("/coro", [](Request&) -> Task<Response> {
    co_await sleep_for(1h);
    if (Activity::here().is_cancelled()) ++cancelled;
    co_return text("late");
  });
  server_.get("/quick", [](Request&) { return text("quick"); }).timeout(1h);
  start();
  RawClient one = client();
  one.send(get("/plain") + get("/g/coro") + get("/quick"));
  EXPECT_EQ(status_of(one.response()), 503);
  EXPECT_EQ(status_of(one.response()), 503);
  EXPECT_EQ(body_of(one.response()), "quick") << "the connection goes on";
  EXPECT_EQ(cancelled, 2);
}

TEST_P(RoutesTest, AHandlerThatIgnoresItsTimeoutIsAnsweredFor) {
  static std::atomic<bool> may_end = false;
  may_end = false;
  server_
      .get("/deaf",
           [](Request&) {
             while (!may_end) {
               wait(shield(sleep_for(1ms)));
             }
             return text("late");
           })
      .timeout(10ms);
  start();
  RawClient one = client();
  one.send(get("/deaf"));
  const std::string answer = one.response();
  EXPECT_EQ(status_of(answer), 503);
  EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos);
  may_end = true;
  EXPECT_EQ(one.read_to_end(), "") << "no second answer";
}

TEST_P(RoutesTest, AClientThatIsGoneCancelsItsHandler) {
  static std::atomic<int> begun = 0, ended = 0;
  begun = ended = 0;
  server_.get("/hour", [](Request&) {
    ++begun;
    wait(sleep_for(1h));
    ++ended;
    return text("late");
  });
  server_.get("/hour-coro", [](Request&) -> Task<Response> {
    ++begun;
    co_await sleep_for(1h);
    ++ended;
    co_return text("late");
  });
  options_.half_close_grace = 1ms;
  start();
  for (const auto* path : {"/hour", "/hour-coro"}) {
    RawClient reset = client();
    const int before = begun;
    reset.send(get(path));
    for (int i = 0; i < 60'000 && begun == before; ++i) std::this_thread::sleep_for(1ms);
    reset.reset();
    RawClient half = client();  // And so does one that pipelined more behind it.
    half.send(get(path) + get(path));
    half.half_close();
    EXPECT_EQ(status_of(half.response()), 200) << "told what the cancelled handler said";
  }
  for (int i = 0; i < 60'000 && ended < 6; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(ended, 6) << "of each path: the reset one, and both of who ended its direction";
}

TEST_P(RoutesTest, AResetCancelsNobodyElse) {
  static std::atomic<bool> may_end = false;
  may_end = false;
  server_.get("/endless", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) -> Task<> {
      const std::string_view piece = "piece";
      while (!may_end && co_await out.write(piece)) co_await sleep_for(1ms);
      const std::string_view last = "the end";
      (void)co_await out.write(last);
    });
  });
  server_.get("/long", [](Request&) {
    wait(sleep_for(1h));
    return text("late");
  });
  start();
  RawClient reader = client();
  reader.send("GET /endless HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  for (int i = 0; i < 20; ++i) {
    RawClient gone = client();
    gone.send(get("/long"));
    std::this_thread::sleep_for(1ms);
    gone.reset();
  }
  may_end = true;
  EXPECT_NE(reader.read_to_end().find("the end\r\n0\r\n\r\n"), std::string::npos);
}

TEST_P(RoutesTest, MoreInFlightThanAllowedAreTurnedAwayButNotWhatIsAlwaysServed) {
  options_.in_flight_max = 1;
  static std::atomic<bool> may_end = false;
  may_end = false;
  server_.get("/held", [](Request&) {
    while (!may_end) wait(sleep_for(1ms));
    return text("held");
  });
  server_.readiness("/ready");
  start();
  RawClient first = client();
  first.send(get("/held"));
  // It may not have begun yet: then it is the others that are let in.
  for (int i = 0; i < 60'000 && status_of(ask(get("/status"))) != 503; ++i) {
    std::this_thread::sleep_for(1ms);
  }
  const std::string refused = ask(get("/status"));
  EXPECT_EQ(status_of(refused), 503);
  EXPECT_NE(refused.find("\r\nRetry-After: 1\r\n"), std::string::npos);
  EXPECT_EQ(status_of(ask(get("/ready"))), 200);
  may_end = true;
  EXPECT_EQ(status_of(first.response()), 200);
  EXPECT_EQ(status_of(ask(get("/status"))), 200);
}

TEST_P(RoutesTest, EachRouteIsCountedUnderItsPattern) {
  start();
  RawClient one = client();
  one.send(get("/users/1") + get("/users/2") + get("/nowhere") + get("/status"));
  for (int i = 0; i < 4; ++i) (void)one.response();
  EXPECT_EQ(status_of(ask("nonsense\r\n\r\n")), 400);
  const std::string shown =
      metrics::exposition(server_.registry(), metrics::TextFormat::prometheus);
  for (const auto* line : {
           "http_server_requests_total{route=\"GET /users/{id}\"} 2",
           "http_server_requests_total{route=\"unmatched\"} 1",
           "http_server_request_seconds_count{route=\"GET /status\",result=\"ok\"} 1",
           "http_server_errors_total{route=\"unmatched\",class=\"client_error\"} 1",
           "http_server_in_flight{route=\"GET /users/{id}\"} 0.0",
           "http_server_refused_total{status=\"400\"} 1",
           "http_server_connections_accepted_total 2",
       }) {
    EXPECT_NE(shown.find(line), std::string::npos) << line << "\n" << shown;
  }
}

SENNIT_FOR_EACH_BACKEND(RoutesTest);

}  // namespace
}  // namespace sennit::http
