#include "sennit/load/generator.hpp"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "sennit/http/server.hpp"
#include "sennit/http/testing/raw_server.hpp"
#include "sennit/load/testing/generator_fixture.hpp"

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using http::testing::RawPeer;
using http::testing::RawServer;
using ::testing::AllOf;
using testing::answer_forever;
using testing::expect_only;
using ::testing::Ge;
using testing::GeneratorTest;
using ::testing::HasSubstr;
using ::testing::Le;
using testing::ok;
using testing::on_time;
using ::testing::StartsWith;

TEST_P(GeneratorTest, CountsEveryResponseAndEveryByte) {
  constexpr int responses_of_each = 25;
  RawServer server([](RawPeer& peer) {
    for (int i = 0; i < responses_of_each && peer.read_request(); ++i) peer.send(ok);
    peer.wait_for_end();  // The last request of each connection stays without an answer.
  });
  Options options = options_for(server.url());
  options.duration = 300ms;
  const Report report = run(options);
  EXPECT_EQ(report.requests, 8 * responses_of_each);
  EXPECT_EQ(report.service_ns.count(), report.requests);
  EXPECT_EQ(report.bytes_read, report.requests * ok.size());
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  EXPECT_EQ(server.connection_count(), 8);
  EXPECT_THAT(report.duration, on_time(300ms));
  EXPECT_EQ(report.backend, GetParam() == runtime::io::BackendKind::uring ? "io_uring" : "epoll");
}

TEST_P(GeneratorTest, SendsWhatItWasTold) {
  std::promise<std::string> seen;
  RawServer server([&seen](RawPeer& peer) {
    if (!peer.read_request()) return;
    seen.set_value(peer.request());
    peer.send(ok);
    peer.wait_for_end();
  });
  Options options = options_for(server.url("/path?query"));
  options.connections = options.workers = 1;
  options.method = "PUT";
  options.body = "the body";
  ASSERT_TRUE(options.headers.add("X-Test", "yes").has_value());
  EXPECT_EQ(run_until(1, options).requests, 1);
  const std::string request = seen.get_future().get();
  EXPECT_THAT(request, StartsWith("PUT /path?query HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_THAT(request, HasSubstr("\r\nX-Test: yes\r\nContent-Length: 8\r\n\r\nthe body"));
}

TEST_P(GeneratorTest, MeasuresTheDelayOfTheServer) {
  static constexpr Duration delay = 20ms;
  RawServer server([](RawPeer& peer) {
    while (peer.read_request()) {
      std::this_thread::sleep_for(delay);
      if (!peer.send(ok)) break;
    }
  });
  const Report report = run_until(80, server.url());
  EXPECT_GE(report.service_ns.min(), Duration(delay).count());
  EXPECT_GE(report.service_ns.percentile(50), Duration(delay).count());
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
}

TEST_P(GeneratorTest, ReadsEveryKindOfBody) {
  struct Case {
    std::string_view name, response;
  };
  for (const auto& [name, response] : {
           Case{"empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
           Case{"none", "HTTP/1.1 204 No Content\r\n\r\n"},
           Case{"chunked",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"},
           Case{"interim", "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"},
       }) {
    SCOPED_TRACE(name);
    RawServer server([response](RawPeer& peer) { answer_forever(peer, response); });
    const Report report = run_until(50, server.url());
    EXPECT_EQ(report.bytes_read, report.requests * response.size());
    EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  }
}

TEST_P(GeneratorTest, ReadsResponsesThatArriveInDrips) {
  RawServer server([](RawPeer& peer) {
    while (peer.read_request()) {
      for (const char& byte : ok) {
        if (!peer.send({&byte, 1})) return;
      }
    }
  });
  const Report report = run_until(50, server.url());
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
}

TEST_P(GeneratorTest, ReadsLargeResponses) {
  const std::string body(1'000'000, 'x');
  const std::string response =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  RawServer server([&response](RawPeer& peer) { answer_forever(peer, response); });
  const Report report = run_until(16, server.url());
  EXPECT_GE(report.bytes_read, report.requests * response.size());
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
}

TEST_P(GeneratorTest, ExpectsNoBodyAfterHead) {
  RawServer server(
      [](RawPeer& peer) { answer_forever(peer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"); });
  Options options = options_for(server.url());
  options.method = "HEAD";
  const Report report = run_until(50, options);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
}

TEST_P(GeneratorTest, SendsLargeBodiesAlsoToServersThatAnswerFirst) {
  for (const bool answers_first : {false, true}) {
    SCOPED_TRACE(answers_first);
    RawServer server([answers_first](RawPeer& peer) {
      if (!answers_first) return answer_forever(peer, ok);
      while (peer.see_request() && peer.send(ok) && peer.read_request()) {
      }
    });
    Options options = options_for(server.url());
    options.method = "POST";
    options.body.assign(2'000'000, 'x');
    const Report report = run_until(24, options);
    EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  }
}

TEST_P(GeneratorTest, ConnectsAgainWhenTheServerCloses) {
  for (const std::string_view response : {
           "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
           "HTTP/1.0 200 OK\r\n\r\nuntil the end",
       }) {
    SCOPED_TRACE(response);
    RawServer server([response](RawPeer& peer) {
      if (peer.read_request()) peer.send(response);
    });
    const Report report = run_until(100, server.url());
    EXPECT_GE(server.connection_count(), report.requests);
    EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  }
}

TEST_P(GeneratorTest, WaitsNoLongerThanTheTimeoutForAnAnnouncedClose) {
  RawServer server([](RawPeer& peer) {
    if (!peer.read_request()) return;
    peer.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello");
    peer.wait_for_end();
  });
  Options options = options_for(server.url());
  options.timeout = 30ms;
  const Report report = run_until(16, options);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
}

TEST_P(GeneratorTest, CountsResponsesThatSayError) {
  RawServer server([](RawPeer& peer) {
    answer_forever(peer, "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
  });
  const Report report = run_until(50, server.url());
  expect_only(report, ErrorKind::status);
  EXPECT_EQ(report.errors[ErrorKind::status], report.requests);
}

TEST_P(GeneratorTest, CountsRefusedConnectionsWithoutHammering) {
  const Report report = run(http::testing::refusing_url());
  EXPECT_EQ(report.requests, 0);
  expect_only(report, ErrorKind::connect);
  EXPECT_LE(report.errors.total(), 8 * 20);
  EXPECT_THAT(report.first_error, AllOf(StartsWith("connect to 127.0.0.1:"), HasSubstr("refused")));
  EXPECT_THAT(report.duration, on_time(100ms));
}

TEST_P(GeneratorTest, EndsOnTimeWhenTheServerNeverAnswers) {
  RawServer server([](RawPeer& peer) { peer.wait_for_end(); });
  Options options = options_for(server.url());
  options.timeout = 50ms;
  options.duration = 300ms;
  const Report report = run(options);
  EXPECT_EQ(report.requests, 0);
  expect_only(report, ErrorKind::timeout);
  EXPECT_THAT(report.errors.total(), AllOf(Ge(8U), Le(8U * 6)));
  EXPECT_THAT(report.first_error, HasSubstr("no response in time"));
  EXPECT_THAT(report.duration, on_time(300ms));
}

TEST_P(GeneratorTest, EndsOnTimeWhenConnectsAreNeverAnswered) {
  RawServer server({}, 0, 0);
  Options options = options_for(server.url());
  options.timeout = 50ms;
  options.duration = 300ms;
  const Report report = run(options);
  expect_only(report, ErrorKind::timeout);
  EXPECT_THAT(report.duration, on_time(300ms));

  options.timeout = 1min;
  const Report in_flight = run(options);
  EXPECT_EQ(in_flight.errors.total(), 0) << in_flight.first_error;
  EXPECT_THAT(in_flight.duration, on_time(300ms));
}

TEST_P(GeneratorTest, CountsWhatIsInFlightAtTheEndAsNothing) {
  RawServer server([](RawPeer& peer) { peer.wait_for_end(); });
  const Report report = run(server.url());
  EXPECT_EQ(report.requests, 0);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
}

TEST_P(GeneratorTest, TimesOutResponsesThatDoNotEnd) {
  RawServer server([](RawPeer& peer) {
    if (peer.read_request()) peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell");
    peer.wait_for_end();
  });
  Options options = options_for(server.url());
  options.timeout = 30ms;
  expect_only(run_until(16, options), ErrorKind::timeout);
}

TEST_P(GeneratorTest, CountsBadResponsesAsReadErrors) {
  struct Case {
    std::string_view response, reason;
  };
  for (const auto& [response, reason] : {
           Case{"SSH-2.0-OpenSSH_9.2\r\n", "malformed protocol version"},
           Case{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, too long", "more bytes than"},
           Case{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "ended before"},
           Case{"HTTP/1.1 200 OK\r\nConte", "ended before"},
           Case{"", "ended before"},
       }) {
    SCOPED_TRACE(response);
    RawServer server([response](RawPeer& peer) {
      if (peer.read_request()) peer.send(response);
    });
    const Report report = run_until(50, server.url());
    expect_only(report, ErrorKind::read);
    EXPECT_THAT(report.first_error, HasSubstr(reason));
  }
}

TEST_P(GeneratorTest, CountsResets) {
  RawServer server([](RawPeer& peer) {
    if (peer.read_request()) peer.reset();
  });
  const Report report = run_until(50, server.url());
  expect_only(report, ErrorKind::read);
  EXPECT_THAT(report.first_error, HasSubstr("reset"));
}

TEST_P(GeneratorTest, EndsEarlyWhenStopped) {
  RawServer server([](RawPeer& peer) { answer_forever(peer, ok); });
  Options options = options_for(server.url());
  options.duration = 1h;
  auto generator = Generator::start(options);
  ASSERT_TRUE(generator.has_value());
  EXPECT_FALSE((*generator)->wait_for(50ms));
  const Progress progress = (*generator)->progress();
  EXPECT_GE(progress.elapsed, 50ms);
  EXPECT_GT(progress.left, 59min);
  (*generator)->stop();
  EXPECT_TRUE((*generator)->wait_for(1min));
  const Report report = (*generator)->finish();
  EXPECT_GT(report.requests, 8);
  EXPECT_GE(report.requests, progress.requests);
  EXPECT_LT(report.duration, 10min);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
}

TEST_P(GeneratorTest, MayBeDroppedWhileItRuns) {
  RawServer server([](RawPeer& peer) { answer_forever(peer, ok); });
  Options options = options_for(server.url());
  options.duration = 1h;
  for (const Duration after : {0ms, 20ms}) {
    auto generator = Generator::start(options);
    ASSERT_TRUE(generator.has_value());
    EXPECT_FALSE((*generator)->wait_for(after));
  }
}

TEST_P(GeneratorTest, StartsMoreConnectionsThanMayConnectAtOnce) {
  Options options = options_for(http::testing::refusing_url());
  options.connections = 1000;
  options.workers = 1;
  expect_only(run_until(1000, options), ErrorKind::connect);

  http::Server server;
  server.get("/", [](http::Request&) { return http::text("hello"); });
  http::ServerOptions server_options;
  server_options.port = 0;
  server_options.workers = 1;
  ASSERT_TRUE(server.start(server_options).has_value());
  options.url = *Url::parse("http://127.0.0.1:" + std::to_string(server.port()));
  const Report served = run_until(2000, options);
  EXPECT_EQ(served.errors.total(), 0) << served.first_error;
  server.stop();
  server.wait();
}

TEST_P(GeneratorTest, AgreesWithOurServer) {
  std::atomic<std::uint64_t> asked = 0;
  http::Server server;
  server.get("/hello", [&asked](http::Request&) {
    ++asked;
    return http::text("hello");
  });
  http::ServerOptions server_options;
  server_options.port = 0;
  server_options.workers = 1;
  server_options.backend = GetParam();
  ASSERT_TRUE(server.start(server_options).has_value());
  const Report report =
      run_until(1000, "http://127.0.0.1:" + std::to_string(server.port()) + "/hello");
  server.stop();
  server.wait();
  EXPECT_LE(report.requests, asked);
  EXPECT_GE(report.requests + 8, asked) << "only one of each connection may be in flight";
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
}

SENNIT_FOR_EACH_BACKEND(GeneratorTest);

TEST(Generator, RefusesOptionsThatMakeNoSense) {
  Options options(*Url::parse("http://127.0.0.1/"));
  options.connections = 1;
  options.workers = 2;
  const auto generator = Generator::start(options);
  ASSERT_FALSE(generator.has_value());
  EXPECT_EQ(generator.error().code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace sennit::load
