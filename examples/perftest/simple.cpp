// The simplest performance test: what a system call costs.
//
//   perftest_examples --gtest_filter='SimpleTest.*'

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include "sennit/perftest/perftest.hpp"

TEST(SimpleTest, SysCall) { ASSERT_NE(0, getppid()); }

// The body is called as often as the time allows; then the rate is shown.
PERF_TEST(SimpleTest, SysCallPerf) { getppid(); }
