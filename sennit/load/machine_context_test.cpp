#include "sennit/load/machine_context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

TEST(MachineContext, KnowsThisMachineAndTheTimeOfItsClock) {
  const ManualClock clock;
  const MachineContext context = MachineContext::of_this_machine(clock);
  EXPECT_THAT(context.kernel, ::testing::StartsWith("Linux "));
  EXPECT_FALSE(context.host.empty());
  EXPECT_GE(context.cpus, 1);
  EXPECT_GE(context.open_files, 1);
  EXPECT_GE(context.load_average, 0);
  EXPECT_EQ(context.time, "1970-01-01T00:00:01Z");
}

}  // namespace
}  // namespace sennit::load
