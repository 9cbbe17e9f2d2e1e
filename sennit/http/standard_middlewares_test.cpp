#include "sennit/http/standard_middlewares.hpp"

#include <gtest/gtest.h>
#include <mutex>
#include <string>

#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using testing::body_of;
using testing::status_of;

class StandardMiddlewaresTest : public testing::ServerTest {
 protected:
  static std::string id_of(const std::string& response) {
    const std::string name = "\r\nX-Request-Id: ";
    const std::size_t at = response.find(name);
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size();
    return response.substr(begin, response.find("\r\n", begin) - begin);
  }
};

TEST_P(StandardMiddlewaresTest, TheAccessLogHasOneLineForEachAnswer) {
  std::mutex mutex;
  std::string logged;
  log::set_sink([&](log::Level, std::string_view line) {
    const std::lock_guard lock(mutex);
    logged += std::string(line) + "\n";
  });
  server_.use(access_log());
  start();
  log::set_level(log::Level::info);
  (void)ask(get("/status?a=b"));
  (void)ask(get("/nowhere"));
  stop();
  log::set_sink({});
  EXPECT_NE(logged.find("GET /status?a=b 200 11 "), std::string::npos) << logged;
  EXPECT_NE(logged.find("GET /nowhere 404 "), std::string::npos) << logged;
}

TEST_P(StandardMiddlewaresTest, RequestIdsAreFreshUnlessTheClientIsTrusted) {
  server_.use(request_id());
  server_.group("/trusting")
      .use(request_id({.header = "X-Other-Id", .trusts_client = true}))
      .get("/x", [](Request&) { return text("x"); });
  start();
  const std::string first = id_of(ask(get("/status")));
  EXPECT_EQ(first.size(), 32U);
  EXPECT_NE(first, id_of(ask(get("/status"))));
  EXPECT_NE(id_of(ask("GET /status HTTP/1.1\r\nHost: t\r\nX-Request-Id: mine\r\n\r\n")), "mine");
  const auto trusting = [&](const std::string& id) {
    return ask("GET /trusting/x HTTP/1.1\r\nHost: t\r\nX-Other-Id: " + id + "\r\n\r\n");
  };
  EXPECT_NE(trusting("mine-1").find("\r\nX-Other-Id: mine-1\r\n"), std::string::npos);
  EXPECT_EQ(trusting("not <usable>").find("usable"), std::string::npos);
}

TEST_P(StandardMiddlewaresTest, TheMetricsPageShowsWhatTheServerCounts) {
  server_.get("/metrics", metrics_page(server_)).always_served();
  start();
  (void)ask(get("/status"));
  const std::string page = ask(get("/metrics"));
  EXPECT_EQ(status_of(page), 200);
  EXPECT_NE(page.find("http_server_requests_total{route=\"GET /status\"} 1"), std::string::npos);
}

SENNIT_FOR_EACH_BACKEND(StandardMiddlewaresTest);

}  // namespace
}  // namespace sennit::http
