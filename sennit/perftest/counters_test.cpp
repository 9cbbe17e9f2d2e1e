#include "sennit/perftest/counters.hpp"

#include <gtest/gtest.h>

#include "sennit/perftest/do_not_optimize.hpp"

namespace sennit::perftest {
namespace {

TEST(Counters, CountInstructionsOrSayWhyNot) {
  Result<Counters> counters = Counters::open();
  if (!counters) {
    EXPECT_NE(counters.error().to_string().find("open the processor's counters"),
              std::string::npos);
    GTEST_SKIP() << counters.error().to_string();
  }
  constexpr int loops = 100'000;
  counters->start();
  for (int i = 0; i < loops; ++i) do_not_optimize(i);
  counters->stop();
  const CounterValues values = counters->values();
  ASSERT_TRUE(values.instructions.has_value());
  EXPECT_GE(*values.instructions, loops);
  EXPECT_LE(*values.instructions, 100.0 * loops);
}

}  // namespace
}  // namespace sennit::perftest
