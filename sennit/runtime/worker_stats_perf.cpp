#include <memory>

#include "sennit/perftest/perftest.hpp"
#include "sennit/runtime/worker_stats.hpp"

namespace sennit::runtime {
namespace {

// What showing its numbers costs a worker: each turn, and the system call every 10 ms.
class WorkerStatsPerf : public testing::Test {
 protected:
  std::unique_ptr<WorkerStats> stats_ = std::make_unique<WorkerStats>();
};

PERF_TEST_F(WorkerStatsPerf, OfATurn) {
  stats_->turns.add(1);
  stats_->jobs.add(3);
  stats_->busy_fibers.set(5);
  stats_->open_sockets.set(7);
  stats_->ready_jobs.set(3);
}
PERF_TEST_F(WorkerStatsPerf, OfTheProcessorTime) { stats_->cpu_ns.set(thread_cpu_time().count()); }

}  // namespace
}  // namespace sennit::runtime
