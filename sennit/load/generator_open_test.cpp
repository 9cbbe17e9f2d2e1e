#include <atomic>
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "sennit/http/testing/raw_server.hpp"
#include "sennit/load/generator.hpp"
#include "sennit/load/testing/generator_fixture.hpp"

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using http::testing::RawPeer;
using http::testing::RawServer;
using testing::answer_forever;
using testing::ok;
using testing::on_time;

class OpenLoopTest : public testing::GeneratorTest {
 protected:
  static Options open_options(const std::string& url, double rate) {
    Options options = options_for(url);
    options.rate = {{1s, rate, rate}};
    options.lag_max = 1min;  // How late this machine is today is not what is tested.
    return options;
  }
};

TEST_P(OpenLoopTest, SendsAsManyAsAreDue) {
  RawServer server([](RawPeer& peer) { answer_forever(peer, ok); });
  Options options = open_options(server.url(), 500);
  options.duration = 1s;
  const Report report = run(options);
  EXPECT_TRUE(report.is_open_loop());
  EXPECT_DOUBLE_EQ(std::round(report.rate), 500);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  // All that were due but for those in flight at the end.
  const auto due = static_cast<std::uint64_t>(
      report.rate * std::chrono::duration<double>(report.duration).count());
  EXPECT_LE(report.requests, due + 1);
  EXPECT_GE(report.requests + report.unsent + options.connections + 2, due);
  EXPECT_EQ(report.response_ns.count(), report.requests);
  EXPECT_EQ(report.service_ns.count(), report.requests);
  EXPECT_GE(report.response_ns.percentile(50), report.service_ns.percentile(50));
  EXPECT_GT(report.lag_ns.count(), 0);
  EXPECT_THAT(report.duration, on_time(1s));
}

// Of a server that stalls once for a second, a closed loop sees as many slow answers as it has
// connections. An open loop sees what users would have seen: all that came meanwhile waited.
TEST_P(OpenLoopTest, ShowsTheStallThatAClosedLoopHides) {
  std::atomic<bool> stalls = true;
  std::atomic<int> answers = 0;
  const auto script = [&](RawPeer& peer) {
    while (peer.read_request()) {
      if (++answers > 50 && stalls.exchange(false)) std::this_thread::sleep_for(1s);
      if (!peer.send(ok)) return;
    }
  };
  constexpr std::int64_t slow_ns = 300'000'000;
  const auto slow_count = [](const metrics::Histogram& histogram) {
    return histogram.count() - histogram.count_up_to(slow_ns);
  };
  {
    RawServer server(script);
    Options options = open_options(server.url(), 200);
    options.connections = options.workers = 1;
    options.duration = 3s;
    options.timeout = 1min;
    const Report open = run(options);
    EXPECT_EQ(open.errors.total(), 0) << open.first_error;
    // Those due in the first 700 ms of the stall waited 300 ms at least: 140, were no request
    // early.
    EXPECT_GE(slow_count(open.response_ns), 130);
    EXPECT_GE(slow_count(open.service_ns), 1);
    EXPECT_LT(slow_count(open.service_ns), slow_count(open.response_ns));
    EXPECT_GE(open.response_ns.max(), 1'000'000'000);
  }
  stalls = true;
  answers = 0;
  RawServer server(script);
  Options options = options_for(server.url());
  options.connections = options.workers = 1;
  options.duration = 1500ms;
  options.timeout = 1min;
  const Report closed = run(options);
  EXPECT_FALSE(closed.is_open_loop());
  EXPECT_EQ(closed.response_ns.count(), 0);
  EXPECT_GE(slow_count(closed.service_ns), 1);
}

TEST_P(OpenLoopTest, SaysHowManyWereDueAndNeverSent) {
  RawServer server([](RawPeer& peer) { peer.wait_for_end(); });
  Options options = open_options(server.url(), 1000);
  options.connections = 4;
  options.duration = 500ms;
  options.timeout = 1min;
  const Report report = run(options);
  EXPECT_EQ(report.requests, 0);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  // 500 were due, or more if the end was late; each connection holds one that was sent.
  const double due = report.rate * std::chrono::duration<double>(report.duration).count();
  EXPECT_NEAR(static_cast<double>(report.unsent), due - 4, 3);
}

TEST_P(OpenLoopTest, IsVoidWhenItIsLaterThanAllowed) {
  RawServer server([](RawPeer& peer) { answer_forever(peer, ok); });
  Options options = open_options(server.url(), 1000);
  options.lag_max = 1ns;
  const Report report = run(options);
  ASSERT_TRUE(report.is_void());
  EXPECT_THAT(report.void_reasons[0], ::testing::HasSubstr("late"));
}

TEST_P(OpenLoopTest, TakesAnIdleConnectionThatTheServerClosesForNoError) {
  RawServer server([](RawPeer& peer) {
    if (peer.read_request()) peer.send(ok);
  });
  Options options = open_options(server.url(), 20);
  options.connections = options.workers = 1;
  options.duration = 1s;
  const Report report = run(options);
  EXPECT_EQ(report.errors[ErrorKind::connect], 0) << report.first_error;
  EXPECT_GE(report.requests, 3);
  EXPECT_GE(server.connection_count(), report.requests);
}

TEST_P(OpenLoopTest, MeasuresNothingThatWasDueInItsWarmUp) {
  std::atomic<bool> is_slow = true;
  RawServer server([&](RawPeer& peer) {
    while (peer.read_request()) {
      if (is_slow.exchange(false)) std::this_thread::sleep_for(300ms);
      if (!peer.send(ok)) return;
    }
  });
  Options options = open_options(server.url(), 100);
  options.connections = options.workers = 1;
  options.warm_up = 1s;
  options.duration = 500ms;
  options.timeout = 1min;
  const Report report = run(options);
  EXPECT_LE(report.duration, 1min);
  EXPECT_GE(report.duration, 500ms);
  EXPECT_EQ(report.errors.total(), 0) << report.first_error;
  EXPECT_LE(report.requests, 160);
  EXPECT_LE(report.response_ns.count(), report.requests);
}

TEST_P(OpenLoopTest, KeepsAStreamBesideApart) {
  RawServer server([](RawPeer& peer) {
    while (peer.read_request()) {
      const bool is_slow = peer.request().starts_with("GET /slow");
      if (is_slow) std::this_thread::sleep_for(20ms);
      if (!peer.send(ok)) return;
    }
  });
  Options options = open_options(server.url("/fast"), 400);
  options.duration = 500ms;
  Options slow = open_options(server.url("/slow"), 20);
  slow.connections = 2;
  options.beside.push_back(slow);
  const Report report = run(options);
  ASSERT_EQ(report.beside.size(), 1);
  EXPECT_EQ(report.errors.total() + report.beside[0].errors.total(), 0) << report.first_error;
  EXPECT_GE(report.beside[0].requests, 1);
  EXPECT_LE(report.beside[0].requests, 20 + 2);
  EXPECT_GE(report.beside[0].service_ns.min(), 20'000'000);
  EXPECT_EQ(report.beside[0].connections, 2);
  EXPECT_EQ(report.service_ns.count(), report.requests);
}

SENNIT_FOR_EACH_BACKEND(OpenLoopTest);

}  // namespace
}  // namespace sennit::load
