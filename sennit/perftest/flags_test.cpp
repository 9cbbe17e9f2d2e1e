#include "sennit/perftest/flags.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::perftest {
namespace {

// Parses, and leaves in `arguments` what was not ours.
Result<Flags> parse(std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int argc = static_cast<int>(arguments.size());
  Result<Flags> flags = parse_flags(argc, pointers.data());
  std::vector<std::string> rest(pointers.begin(), pointers.begin() + argc);
  arguments = rest;
  return flags;
}

TEST(Flags, TakeTheFormsOfGtestx) {
  for (std::vector<std::string> arguments :
       {std::vector<std::string>{"perf", "-hz=10000", "-time=5000"},
        {"perf", "--hz=10000", "--time=5000"},
        {"perf", "-hz", "10000", "-time", "5000"}}) {
    const Result<Flags> flags = parse(arguments);
    ASSERT_TRUE(flags.has_value());
    EXPECT_EQ(flags->hz, 10'000);
    EXPECT_EQ(flags->time_ms, 5000);
    EXPECT_EQ(arguments, std::vector<std::string>{"perf"});
  }
}

TEST(Flags, LeaveOthersInPlace) {
  std::vector<std::string> arguments{"perf",  "--gtest_filter=A.*", "--latency",
                                     "other", "--json=out.json",    "--help"};
  const Result<Flags> flags = parse(arguments);
  ASSERT_TRUE(flags.has_value());
  EXPECT_TRUE(flags->latency);
  EXPECT_TRUE(flags->help);
  EXPECT_EQ(flags->json, "out.json");
  EXPECT_EQ(arguments, (std::vector<std::string>{"perf", "--gtest_filter=A.*", "other", "--help"}));
}

TEST(Flags, NameWhatIsWrong) {
  for (const std::string wrong :
       {"-hz=fast", "-hz=-1", "-time=", "-time=1.5", "--threads=0", "--fibers=-1",
        "--repetitions=101", "--json=", "--counters=maybe", "-hz=nan", "-time=99999999999"}) {
    SCOPED_TRACE(wrong);
    std::vector<std::string> arguments{"perf", wrong};
    const Result<Flags> flags = parse(arguments);
    ASSERT_FALSE(flags.has_value());
    EXPECT_EQ(flags.error().code(), Errc::invalid_argument);
  }
  std::vector<std::string> last{"perf", "-time"};
  EXPECT_FALSE(parse(last).has_value());
}

TEST(Flags, AreAllInTheHelp) {
  for (const std::string_view name :
       {"-hz=", "-time=", "--threads=", "--fibers=", "--warm_up=", "--repetitions=", "--threshold=",
        "--json=", "--baseline=", "--save_baseline=", "--latency",
        "--counters=", "--inconclusive_fails"}) {
    EXPECT_NE(flags_help().find(name), std::string_view::npos) << name;
  }
}

TEST(Settle, PrefersTheCommandLine) {
  Flags flags;
  Settings settings = settle({}, flags);
  EXPECT_EQ(settings.hz, 0);
  EXPECT_EQ(settings.time_ms, 1500);
  EXPECT_EQ(settings.threads, 1);
  EXPECT_EQ(settings.fibers, 0);
  settings = settle({.hz = 100, .time_ms = 50, .threads = 3, .fibers = 7, .latency = true}, flags);
  EXPECT_EQ(settings.fibers, 7);
  EXPECT_EQ(settings.hz, 100);
  EXPECT_EQ(settings.time_ms, 50);
  EXPECT_EQ(settings.threads, 3);
  EXPECT_TRUE(settings.latency);
  flags.hz = 0;
  flags.time_ms = 20;
  flags.threads = 1;
  flags.fibers = 2;
  settings = settle({.hz = 100, .time_ms = 50, .threads = 3}, flags);
  EXPECT_EQ(settings.hz, 0);
  EXPECT_EQ(settings.time_ms, 20);
  EXPECT_EQ(settings.threads, 1);
  EXPECT_EQ(settings.fibers, 2);
}

}  // namespace
}  // namespace sennit::perftest
