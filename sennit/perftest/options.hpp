#pragma once
// How a performance test runs: what it asks for itself, and what comes of that together with the
// command line (flags.hpp).
//
// Thread safety: values.

namespace sennit::perftest {

/// What a test asks for: `PERF_TEST_WITH(Queue, Push, .threads = 2, .items_per_call = 16)`.
/// Negative values of hz and time_ms mean the default, as in gtestx.
struct Options {
  double hz = -1;             // Calls per second; 0 as many as possible, which is the default.
  int time_ms = -1;           // How long to measure; by default 1,500 ms.
  int threads = 1;            // That call the body at once; perf_thread.index tells them apart.
  int fibers = 0;             // On each thread, where fibers.hpp is included; 0: on none.
  bool latency = false;       // Time each call in a pass of its own, for percentiles.
  double items_per_call = 0;  // What one call stands for; shown per second if not 0.
  double bytes_per_call = 0;
};

/// How a test really runs.
struct Settings {
  double hz = 0;
  int time_ms = 1500;
  int threads = 1;
  int fibers = 0;
  int warm_up_ms = 100;
  int repetitions = 5;
  bool latency = false;
  bool counters = true;
  double items_per_call = 0;
  double bytes_per_call = 0;
};
}  // namespace sennit::perftest
