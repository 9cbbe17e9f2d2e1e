#include "sennit/load/detail/plan.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load::detail {
namespace {

Options options_for(std::string_view url) { return Options(*Url::parse(url)); }

TEST(Plan, RefusesWhatMakesNoSense) {
  struct Case {
    std::function<void(Options&)> spoil;
    std::string_view complaint;
  };
  for (const auto& [spoil, complaint] : {
           Case{[](Options& o) { o.connections = 0; }, "each thread needs one"},
           Case{[](Options& o) { o.workers = 0; }, "each thread needs one"},
           Case{[](Options& o) { o.workers = o.connections + 1; }, "each thread needs one"},
           Case{[](Options& o) { o.duration = Duration::zero(); }, "zero"},
           Case{[](Options& o) { o.timeout = Duration::zero(); }, "zero"},
           Case{[](Options& o) { o.method = "CONNECT"; }, "CONNECT"},
           Case{[](Options& o) { o.method = "GET /"; }, "method"},
           Case{[](Options& o) { std::ignore = o.headers.add("Content-Length", "1"); }, "body"},
           Case{[](Options& o) { std::ignore = o.headers.add("transfer-encoding", "x"); }, "body"},
           Case{[](Options& o) { std::ignore = o.headers.add("Host", "no host"); }, "host"},
       }) {
    Options options = options_for("http://127.0.0.1/");
    spoil(options);
    const auto plan = make_plan(options);
    ASSERT_FALSE(plan.has_value()) << complaint;
    EXPECT_EQ(plan.error().code(), Errc::invalid_argument);
    EXPECT_THAT(plan.error().to_string(), ::testing::HasSubstr(complaint));
  }
}

TEST(Plan, SaysWhichHostIsUnknown) {
  const auto plan = make_plan(options_for("http://no-such-host.invalid/"));
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().code(), Errc::not_found);
  EXPECT_THAT(plan.error().to_string(), ::testing::HasSubstr("no-such-host.invalid"));
}

TEST(Plan, WritesTheRequest) {
  Options options = options_for("http://127.0.0.1:8080/a?b=c");
  EXPECT_EQ(make_plan(options)->requests.front().bytes(false),
            "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");

  options.method = "POST";
  options.body = "hello";
  ASSERT_TRUE(options.headers.add("X-One", "1").has_value());
  EXPECT_EQ(make_plan(options)->requests.front().bytes(false),
            "POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-One: 1\r\nContent-Length: 5\r\n\r\n"
            "hello");
}

TEST(Plan, LetsHostAndConnectionBeSet) {
  Options options = options_for("http://127.0.0.1:8080/");
  ASSERT_TRUE(options.headers.add("Connection", "close").has_value());
  ASSERT_TRUE(options.headers.add("host", "example.org").has_value());
  EXPECT_EQ(make_plan(options)->requests.front().bytes(false),
            "GET / HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n");
}

TEST(Plan, FindsTheAddress) {
  EXPECT_EQ(make_plan(options_for("http://10.0.0.1"))->address.to_string(), "10.0.0.1:80");
  EXPECT_EQ(make_plan(options_for("http://[::1]:81"))->address.to_string(), "[::1]:81");
  EXPECT_EQ(make_plan(options_for("http://localhost:82"))->address.to_string(), "127.0.0.1:82");
}

TEST(Plan, RefusesMoreConnectionsThanFilesMayBeOpen) {
  EXPECT_TRUE(allow_connections(1).has_value());
  const auto refused = allow_connections(2'000'000'000);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::limit_reached);
  EXPECT_THAT(refused.error().to_string(), ::testing::HasSubstr("ulimit -n"));
}

}  // namespace
}  // namespace sennit::load::detail
