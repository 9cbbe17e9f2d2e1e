// A fixed rate, and ending early.

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include "sennit/perftest/perftest.hpp"

// 10,000 calls a second for five seconds, unless -hz and -time say otherwise.
PERF_TEST_OPT(MiscFeaturesTest, SysCallPerf, 10000, 5000) { getppid(); }

// PERF_ABORT ends the calls when the assertion fails.
PERF_TEST(MiscFeaturesTest, PerfAbort) { ASSERT_NE(0, getppid()) << PERF_ABORT; }
