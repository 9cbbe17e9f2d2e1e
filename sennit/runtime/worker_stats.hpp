#pragma once
// WorkerStats: what a worker shows of itself while it runs.
//
// The worker writes, anybody reads (metrics::OneWriter). The first group is written every turn, in
// one cache line, for some stores; the second at most every 10 ms. The stats are shared, so that
// they may be read after the worker has ended; they then keep its last words.
//
// Loop lag is how long something that is ready waits until it runs. It is sampled: every 10 ms the
// worker queues a job as anyone would and looks how long it takes until its turn comes.
//
// register_runtime_metrics() (runtime_metrics.hpp) shows it all to Prometheus.

#include <cstddef>
#include <cstdint>

#include "sennit/base/time.hpp"
#include "sennit/metrics/cell.hpp"

namespace sennit::runtime {

inline constexpr Duration stats_interval = std::chrono::milliseconds(10);

struct alignas(metrics::cache_line_bytes) WorkerStats {
  // Each turn.
  metrics::OneWriter<std::uint64_t> turns;
  metrics::OneWriter<std::uint64_t> jobs;        // Run so far.
  metrics::OneWriter<std::uint64_t> busy_turn;   // Which turn this is; 0 while it waits.
  metrics::OneWriter<std::size_t> ready_jobs;    // That the last turn found; 0 while it sleeps.
  metrics::OneWriter<std::size_t> busy_fibers;   // That run or wait.
  metrics::OneWriter<std::size_t> open_sockets;  // Of the backend.

  // Every stats_interval, while there are turns.
  metrics::OneWriter<std::size_t> stacks_on_loan;
  metrics::OneWriter<std::size_t> stacks_idle;
  metrics::OneWriter<std::size_t> ring_submissions;  // See io::RingDepth.
  metrics::OneWriter<std::size_t> ring_completions;
  metrics::OneWriter<std::size_t> ring_submissions_max;
  metrics::OneWriter<std::size_t> ring_completions_max;
  metrics::OneWriter<std::int64_t> cpu_ns;  // User and system time of the thread.
  metrics::HistogramCell loop_lag_ns{{.highest = 60'000'000'000, .significant_digits = 1}};
};

/// User and system time of the calling thread so far, to the microsecond.
[[nodiscard]] Duration thread_cpu_time();

}  // namespace sennit::runtime
