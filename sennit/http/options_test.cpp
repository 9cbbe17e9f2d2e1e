#include "sennit/http/options.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::http {
namespace {

ServerOptions parse(std::vector<std::string> words, const std::vector<Flag>& own = {}) {
  words.insert(words.begin(), "/usr/bin/service");
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  return ServerOptions(static_cast<int>(arguments.size()), arguments.data(), own);
}

TEST(ServerOptions, TakesEachFlag) {
  const ServerOptions options =
      parse({"--host", "0.0.0.0", "--port", "0", "--workers", "3", "--backend", "epoll", "--pin",
             "--max-connections", "10", "--max-body-bytes", "5"});
  EXPECT_EQ(options.host, "0.0.0.0");
  EXPECT_EQ(options.port, 0);
  EXPECT_EQ(options.workers, 3U);
  EXPECT_EQ(options.backend, runtime::io::BackendKind::epoll);
  EXPECT_TRUE(options.pin);
  EXPECT_EQ(options.connections_max, 10U);
  EXPECT_EQ(options.body_bytes_max, 5U);
}

TEST(ServerOptions, EachLimitAndTimeHasAFlag) {
  const ServerOptions options = parse(
      {"--max-in-flight",      "1",  "--max-stream-bytes",      "2",  "--max-uri-bytes",      "3",
       "--max-header-bytes",   "4",  "--max-header-count",      "5",  "--max-output-bytes",   "6",
       "--min-body-rate",      "7",  "--first-byte-timeout-ms", "8",  "--header-timeout-ms",  "9",
       "--body-timeout-ms",    "10", "--write-timeout-ms",      "11", "--idle-timeout-ms",    "12",
       "--handler-timeout-ms", "13", "--max-connection-age-ms", "14", "--max-queue-delay-ms", "0",
       "--drain-timeout-ms",   "15", "--unready-delay-ms",      "16", "--keep-disconnected"});
  using std::chrono::milliseconds;
  EXPECT_EQ(options.in_flight_max, 1U);
  EXPECT_EQ(options.stream_bytes_max, 2U);
  EXPECT_EQ(options.head_limits.uri_bytes_max, 3U);
  EXPECT_EQ(options.head_limits.header_bytes_max, 4U);
  EXPECT_EQ(options.head_limits.header_count_max, 5U);
  EXPECT_EQ(options.output_bytes_max, 6U);
  EXPECT_EQ(options.body_rate_min, 7U);
  EXPECT_EQ(options.first_byte_timeout, milliseconds(8));
  EXPECT_EQ(options.head_timeout, milliseconds(9));
  EXPECT_EQ(options.body_timeout, milliseconds(10));
  EXPECT_EQ(options.write_timeout, milliseconds(11));
  EXPECT_EQ(options.idle_timeout, milliseconds(12));
  EXPECT_EQ(options.handler_timeout, milliseconds(13));
  EXPECT_EQ(options.connection_age_max, milliseconds(14));
  EXPECT_EQ(options.queue_delay_max, Duration::zero());
  EXPECT_EQ(options.drain_timeout, milliseconds(15));
  EXPECT_EQ(options.unready_delay, milliseconds(16));
  EXPECT_FALSE(options.cancel_on_disconnect);
  EXPECT_EQ(parse({"--handler-timeout-ms", "0"}).handler_timeout, Duration::max());
}

TEST(ServerOptions, KeepsItsDefaultsAndTakesTheProgramsOwnFlags) {
  std::int64_t slow_us = 5;
  EXPECT_EQ(parse({}, {Flag("--slow-us", "how slow", &slow_us)}).port, 8080);
  EXPECT_EQ(slow_us, 5);
  parse({"--slow-us", "7"}, {Flag("--slow-us", "how slow", &slow_us)});
  EXPECT_EQ(slow_us, 7);
}

TEST(ServerOptionsDeathTest, SaysWhatIsWrongWithAFlagAndExitsWithTwo) {
  struct Case {
    std::vector<std::string> words;
    const char* said;
  };
  for (const Case& each : {
           Case{{"--port", "70000"}, "--port"},
           Case{{"--port", "-1"}, "--port"},
           Case{{"--port"}, "--port"},
           Case{{"--max-connections=-1"}, "--max-connections"},
           Case{{"--max-body-bytes", "many"}, "--max-body-bytes"},
           Case{{"--idle-timeout-ms=-5"}, "--idle-timeout-ms"},
           Case{{"--workers", "2000"}, "--workers"},
           Case{{"--backend", "kqueue"}, "--backend"},
           Case{{"--bakcend", "epoll"}, "--bakcend"},
           Case{{"stray"}, "stray"},
       }) {
    SCOPED_TRACE(each.said);
    EXPECT_EXIT(parse(each.words), ::testing::ExitedWithCode(2), each.said);
  }
}

TEST(ServerOptionsDeathTest, PrintsItsFlagsOnRequest) {
  EXPECT_EXIT(parse({"--help"}), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace sennit::http
