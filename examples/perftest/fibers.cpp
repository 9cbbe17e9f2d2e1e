// A performance test on fibers: what taking turns costs when a hundred of them do.

#include "sennit/perftest/fibers.hpp"

#include "sennit/perftest/perftest.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/wait.hpp"

PERF_TEST_WITH(FiberTest, GiveWay, .fibers = 100) {
  static_cast<void>(sennit::wait(sennit::yield()));
}

// What is waited for overlaps: a hundred fibers make a hundred times the calls of one.
PERF_TEST_WITH(FiberTest, SleepAMillisecond, .fibers = 100, .latency = true) {
  static_cast<void>(sennit::wait(sennit::sleep_for(std::chrono::milliseconds(1))));
}
