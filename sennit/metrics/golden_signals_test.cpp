#include "sennit/metrics/golden_signals.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <string>

#include "sennit/metrics/exposition.hpp"

namespace sennit::metrics {
namespace {

using std::chrono::milliseconds;

class GoldenSignalsTest : public testing::Test {
 protected:
  [[nodiscard]] std::string shown() const { return exposition(registry_, TextFormat::prometheus); }
  [[nodiscard]] bool shows(const std::string& line) const {
    return shown().find("\n" + line + "\n") != std::string::npos;
  }

  Registry registry_{{.slots = 2, .series_max = 8}};
  GoldenSignals signals_{registry_, {.prefix = "http_server", .operation = "route"}};
};

TEST_F(GoldenSignalsTest, CountCallsThatBeginAndHoldThoseThatHaveNotEnded) {
  GoldenCells cells = signals_.cells("/users/{id}", 0);
  cells.begin();
  cells.begin();
  cells.end(milliseconds(3), Outcome::ok);
  EXPECT_TRUE(shows("http_server_requests_total{route=\"/users/{id}\"} 2")) << shown();
  EXPECT_TRUE(shows("http_server_in_flight{route=\"/users/{id}\"} 1.0")) << shown();
  EXPECT_TRUE(shows("http_server_request_seconds_count{route=\"/users/{id}\",result=\"ok\"} 1"))
      << shown();
  EXPECT_TRUE(
      shows("http_server_request_seconds_bucket{route=\"/users/{id}\",result=\"ok\",le=\"0.0025\"}"
            " 0"))
      << shown();
  EXPECT_TRUE(
      shows("http_server_request_seconds_bucket{route=\"/users/{id}\",result=\"ok\",le=\"0.005\"} "
            "1"))
      << shown();
}

TEST_F(GoldenSignalsTest, ShowAnOperationBeforeItsFirstCall) {
  static_cast<void>(signals_.cells("/", 1));
  EXPECT_TRUE(shows("http_server_requests_total{route=\"/\"} 0")) << shown();
  EXPECT_TRUE(shows("http_server_request_seconds_count{route=\"/\",result=\"ok\"} 0")) << shown();
  EXPECT_TRUE(shows("http_server_in_flight{route=\"/\"} 0.0")) << shown();
  EXPECT_EQ(shown().find("http_server_errors_total{"), std::string::npos) << shown();
}

TEST_F(GoldenSignalsTest, KeepFailuresByClassAndOutOfTheLatencyOfSuccess) {
  GoldenCells cells = signals_.cells("/", 0);
  for (const Outcome outcome :
       {Outcome::ok, Outcome::client_error, Outcome::server_error, Outcome::timed_out,
        Outcome::cancelled, Outcome::rejected, Outcome::rejected}) {
    cells.begin();
    cells.end(milliseconds(1), outcome);
  }
  for (const auto& [name, count] : {std::pair{"client_error", 1},
                                    {"server_error", 1},
                                    {"timed_out", 1},
                                    {"cancelled", 1},
                                    {"rejected", 2}}) {
    EXPECT_TRUE(shows("http_server_errors_total{route=\"/\",class=\"" + std::string(name) + "\"} " +
                      std::to_string(count)))
        << shown();
  }
  EXPECT_EQ(shown().find("class=\"ok\""), std::string::npos);
  EXPECT_TRUE(shows("http_server_request_seconds_count{route=\"/\",result=\"ok\"} 1"));
  EXPECT_TRUE(shows("http_server_request_seconds_count{route=\"/\",result=\"error\"} 6"));
  EXPECT_TRUE(shows("http_server_in_flight{route=\"/\"} 0.0"));
}

TEST_F(GoldenSignalsTest, AddUpTheWorkers) {
  GoldenCells first = signals_.cells("/", 0);
  GoldenCells second = signals_.cells("/", 1);
  first.begin();
  second.begin();
  second.end(milliseconds(1), Outcome::server_error);
  EXPECT_TRUE(shows("http_server_requests_total{route=\"/\"} 2"));
  EXPECT_TRUE(shows("http_server_in_flight{route=\"/\"} 1.0"));
  EXPECT_TRUE(shows("http_server_errors_total{route=\"/\",class=\"server_error\"} 1"));
}

TEST_F(GoldenSignalsTest, FoldOperationsBeyondTheLimit) {
  for (int i = 0; i < 100; ++i) signals_.cells("/" + std::to_string(i), 0).begin();
  EXPECT_TRUE(shows("http_server_requests_total{route=\"other\"} 92")) << shown();
}

TEST_F(GoldenSignalsTest, ShowALimitOnceItIsKnown) {
  EXPECT_EQ(shown().find("in_flight_limit"), std::string::npos);
  signals_.set_in_flight_limit(50'000);
  EXPECT_TRUE(shows("http_server_in_flight_limit 50000.0")) << shown();
}

TEST_F(GoldenSignalsTest, OfTheSameNameAreTheSameSeries) {
  GoldenSignals again(registry_, {.prefix = "http_server", .operation = "route"});
  signals_.cells("/", 0).begin();
  again.cells("/", 1).begin();
  EXPECT_TRUE(shows("http_server_requests_total{route=\"/\"} 2"));
}

}  // namespace
}  // namespace sennit::metrics
