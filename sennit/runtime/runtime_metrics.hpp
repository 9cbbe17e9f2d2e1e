#pragma once
// The metrics of a runtime, by worker, for Prometheus:
//
//   sennit_worker_turns_total            sennit_worker_ready_jobs      (run queue length)
//   sennit_worker_jobs_total             sennit_worker_busy_fibers
//   sennit_worker_cpu_seconds_total      sennit_worker_open_sockets
//   sennit_worker_loop_lag_seconds       sennit_worker_stacks{state="on_loan|idle"}
//   sennit_worker_ring_depth{ring="submission|completion"}
//   sennit_worker_ring_entries{ring="submission|completion"}   the most there can be; 0: no rings
//
// What each means and how fresh it is: worker_stats.hpp. Nothing is counted for the sake of it when
// nobody asks but what is said there.

#include "sennit/metrics/registry.hpp"
#include "sennit/runtime/runtime.hpp"

namespace sennit::runtime {

/// The runtime may end before the registry; its last numbers are shown from then on. Registering
/// another one replaces it. Thread safety: as the Runtime's.
void register_runtime_metrics(metrics::Registry& registry, Runtime& runtime);

}  // namespace sennit::runtime
