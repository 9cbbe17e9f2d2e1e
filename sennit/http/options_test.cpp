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
