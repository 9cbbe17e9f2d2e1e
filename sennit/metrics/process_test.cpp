#include "sennit/metrics/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/metrics/exposition.hpp"

namespace sennit::metrics {
namespace {

TEST(ParseProcStat, TakesTheNumbersAfterAnyName) {
  for (const std::string name : {"cat", "a b", "a) R 1 2 3", "((", ")", "", "x\ny"}) {
    SCOPED_TRACE(name);
    const auto stat = parse_proc_stat("42 (" + name +
                                      ") S 1 2 3 4 5 6 7 8 9 10 1500 250 13 14 15 16 9 18 777 "
                                      "4096000 300 18446744073709551615 26 27\n");
    ASSERT_TRUE(stat.has_value());
    EXPECT_EQ(stat->cpu_ticks, 1750U);
    EXPECT_EQ(stat->threads, 9U);
    EXPECT_EQ(stat->start_ticks, 777U);
    EXPECT_EQ(stat->virtual_bytes, 4'096'000U);
    EXPECT_EQ(stat->resident_pages, 300U);
  }
}

TEST(ParseProcStat, RefusesWhatIsNoSuchLine) {
  for (const std::string wrong :
       {"", ")", "1 (a)", "1 (a) ", "1 (a) S 1 2", "1 (a S 1 2 3 4 5 6 7 8 9 10 11 12 13 14",
        "1 (a) S 1 2 3 4 5 6 7 8 9 10 x 250 13 14 15 16 9 18 777 4096000 300 1"}) {
    EXPECT_FALSE(parse_proc_stat(wrong).has_value()) << wrong;
  }
}

TEST(ProcessStats, SaysWhatThisProcessHolds) {
  const Result<ProcessStats> before = process_stats();
  ASSERT_TRUE(before.has_value()) << before.error().to_string();
  const int descriptor = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  const Result<ProcessStats> after = process_stats();
  ::close(descriptor);
  ASSERT_TRUE(after.has_value()) << after.error().to_string();
  EXPECT_EQ(after->open_fds, before->open_fds + 1);
  EXPECT_GE(after->threads, 1);
  EXPECT_GT(after->resident_bytes, 0);
  EXPECT_GT(after->virtual_bytes, after->resident_bytes);
  EXPECT_GT(after->max_fds, after->open_fds);
  EXPECT_GE(after->cpu_s, before->cpu_s);
  EXPECT_EQ(after->start_s, before->start_s);
  const double now_s =
      std::chrono::duration<double>(RealClock().wall_now().time_since_epoch()).count();
  EXPECT_GT(after->start_s, 1e9);
  EXPECT_LT(after->start_s, now_s + 60);  // The kernel's two clocks drift apart a little.
}

TEST(ProcessMetrics, AreShownUnderTheNamesThatDashboardsKnow) {
  Registry registry({});
  register_process_metrics(registry);
  register_process_metrics(registry);  // Twice is once.
  const std::string text = exposition(registry, TextFormat::prometheus);
  for (const std::string name :
       {"process_cpu_seconds_total", "process_start_time_seconds", "process_resident_memory_bytes",
        "process_virtual_memory_bytes", "process_threads", "process_open_fds", "process_max_fds"}) {
    const std::size_t at = text.find("\n" + name + " ");
    ASSERT_NE(at, std::string::npos) << name << " in\n" << text;
    EXPECT_NE(text.substr(at + name.size() + 2, 3), "NaN") << name;
  }
}

}  // namespace
}  // namespace sennit::metrics
