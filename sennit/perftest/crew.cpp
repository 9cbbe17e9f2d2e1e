#include "sennit/perftest/crew.hpp"

#include <latch>
#include <thread>
#include <time.h>
#include <vector>

namespace sennit::perftest {
namespace {

// The kernel wakes us late by up to about this much, so the last bit is waited out awake.
constexpr Duration wake_up_slack = std::chrono::microseconds(100);

}  // namespace

void RealTimeline::sleep_until(TimePoint instant) {
  const Duration wake_up = (instant - wake_up_slack).time_since_epoch();
  if (now() + wake_up_slack < instant) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wake_up);
    const timespec until{.tv_sec = seconds.count(), .tv_nsec = (wake_up - seconds).count()};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
  while (now() < instant) continue;
}

void ThreadCrew::run(int count, const Work& work) {
  if (count == 1) {
    work(0);
    return;
  }
  std::latch all_started(count);
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      all_started.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace sennit::perftest
