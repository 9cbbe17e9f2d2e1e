#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <unistd.h>

#include "sennit/http/server.hpp"
#include "sennit/http/testing/raw_server.hpp"
#include "sennit/load/generator.hpp"
#include "sennit/load/testing/generator_fixture.hpp"

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using http::testing::RawPeer;
using http::testing::RawServer;
using testing::answer_forever;
using testing::expect_only;
using ::testing::HasSubstr;
using testing::ok;

class TrafficTest : public testing::GeneratorTest {};

TEST_P(TrafficTest, PipelinesAsManyRequestsAsItMay) {
  // Answers only when eight have come, so that nothing is answered if fewer are sent ahead.
  RawServer server([](RawPeer& peer) {
    for (;;) {
      for (int i = 0; i < 8; ++i) {
        if (!peer.read_request()) return;
      }
      std::string answers;
      for (int i = 0; i < 8; ++i) answers += ok;
      if (!peer.send(answers)) return;
    }
  });
  Options options = options_for(server.url());
  options.pipeline = 8;
  const Report report = run_until(800, options);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  EXPECT_EQ(report.pipeline, 8);
}

TEST_P(TrafficTest, CountsEachPipelinedRequestThatIsNotAnswered) {
  RawServer server([](RawPeer& peer) {
    if (peer.read_request()) peer.send(ok);  // And no word to the other three.
  });
  Options options = options_for(server.url());
  options.pipeline = 4;
  const Report report = run_until(200, options);
  expect_only(report, ErrorKind::read);
  EXPECT_GE(report.errors[ErrorKind::read], 2 * report.requests);
}

TEST_P(TrafficTest, SendsWhatItsMixSays) {
  std::mutex mutex;
  std::set<std::string> lines;
  std::atomic<int> posts = 0, wrong = 0;
  RawServer server([&](RawPeer& peer) {
    while (peer.read_request()) {
      const std::string& request = peer.request();
      if (request.starts_with("POST /log HTTP/1.1\r\n")) {
        ++posts;
        if (request.find("X-Id: ") == std::string::npos || !request.ends_with("\r\n\r\n{n}"))
          ++wrong;
      } else {
        const std::lock_guard lock(mutex);
        lines.insert(request.substr(0, request.find(" HTTP")));
      }
      if (!peer.send(ok)) return;
    }
  });
  Options options = options_for(server.url("/ignored"));
  options.mix = *parse_mix(
      R"([{"weight": 3, "path": "/users/{1..3}"},
          {"path": "/log", "headers": {"X-Id": "{seq}"}, "body": "{{n}}"}])");
  for (const std::uint32_t pipeline : {1U, 4U}) {
    options.pipeline = pipeline;
    const Report report = run_until(400, options);
    EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  }
  const std::lock_guard lock(mutex);  // The server still reads what was in flight.
  EXPECT_EQ(lines, (std::set<std::string>{"GET /users/1", "GET /users/2", "GET /users/3"}));
  EXPECT_GT(posts, 0);
  EXPECT_EQ(wrong, 0);
}

TEST_P(TrafficTest, OpensConnectionsAnewAfterSoManyRequests) {
  std::atomic<int> last_ones = 0;
  RawServer server([&](RawPeer& peer) {
    while (peer.read_request()) {
      const bool is_last = peer.request().find("Connection: close") != std::string::npos;
      last_ones += is_last ? 1 : 0;
      const std::string_view closing =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
      if (!peer.send(is_last ? closing : ok) || is_last) return;
    }
  });
  Options options = options_for(server.url());
  options.requests_per_connection = 5;
  for (const std::uint32_t pipeline : {1U, 3U}) {
    options.pipeline = pipeline;
    const Report report = run_until(200, options);
    EXPECT_EQ(report.errors.total(), 0) << report.first_error;
    EXPECT_GE(report.requests, 200);
  }
  EXPECT_GE(last_ones, 2 * 200 / 5 - 2 * 8);
}

TEST_P(TrafficTest, TalksToUnixSockets) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("sennit-load-" + std::to_string(::getpid())))
          .string();
  http::Server server;
  server.get("/hello", [](http::Request&) { return http::text("hello"); });
  http::ServerOptions server_options;
  server_options.host = "unix:" + path;
  server_options.workers = 1;
  server_options.backend = GetParam();
  ASSERT_TRUE(server.start(server_options).has_value());
  Options options = options_for("http://example.org/hello");
  options.unix_socket = path;
  const Report report = run_until(100, options);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  server.stop();
  server.wait();
}

SENNIT_FOR_EACH_BACKEND(TrafficTest);

TEST(GeneratorOptions, RefusesWhatMakesNoSense) {
  struct Case {
    std::function<void(Options&)> spoil;
    std::string_view complaint;
  };
  for (const auto& [spoil, complaint] : {
           Case{[](Options& o) { o.pipeline = 0; }, "pipeline 0"},
           Case{[](Options& o) { o.pipeline = 2000; }, "pipeline 2000"},
           Case{[](Options& o) { o.rate = {{1s, 5, 0}}; }, "rate of zero"},
           Case{[](Options& o) { o.rate = {{0s, 5, 5}}; }, "no sense"},
           Case{[](Options& o) { o.rate = {{1s, 1e300, 5}}; }, "no sense"},
           Case{[](Options& o) { o.mix = {{.weight = 0}}; }, "weights are all zero"},
           Case{[](Options& o) { o.mix = {{.path = "no slash in\nit"}}; }, ""},
           Case{[](Options& o) { o.unix_socket = std::string(200, 'x'); }, "unix"},
           Case{[](Options& o) { o.warm_up = -1s; }, "zero"},
       }) {
    Options options(*Url::parse("http://127.0.0.1/"));
    spoil(options);
    const auto refused = Generator::start(options);
    ASSERT_FALSE(refused.has_value()) << complaint;
    EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
    EXPECT_THAT(refused.error().to_string(), HasSubstr(complaint));
  }
}

}  // namespace
}  // namespace sennit::load
