#pragma once
// BlockingPool: threads for calls that block, such as files and old libraries. See offload().
//
// It grows by a thread whenever a job finds none idle, up to threads_max, then jobs queue, up to
// queue_max; a thread that had nothing to do for idle_max ends. Jobs start in the order of
// submission.
//
// With a simulated kernel there are no threads: up to threads_max jobs are under way, each takes a
// virtual time drawn by the seed, and they run, one at a time, when theirs is over.
//
// Thread safety: every function from any thread.

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/runtime/pool_job.hpp"

namespace sennit::runtime {

namespace simulated {
class Kernel;
}

struct BlockingPoolOptions {
  unsigned threads_max = 64;
  std::size_t queue_max = 10'000;  // Jobs that have not begun.
  Duration idle_max = std::chrono::seconds(10);
};

class BlockingPool {
 public:
  explicit BlockingPool(const BlockingPoolOptions& options = {},
                        simulated::Kernel* kernel = nullptr);
  /// Runs what is queued and ends the threads.
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  /// Errors: limit_reached when queue_max jobs wait, or when there is no thread and none can be
  /// started; the job is the caller's again.
  [[nodiscard]] Result<void> submit(PoolJob& job);
  /// True if the job had not begun: it will not, and is the caller's again.
  [[nodiscard]] bool cancel(PoolJob& job);

  [[nodiscard]] unsigned thread_count() const;
  [[nodiscard]] std::size_t queued_count() const;

 private:
  void serve();
  void end_thread();
  void run_simulated();
  [[nodiscard]] bool start_thread();

  const BlockingPoolOptions options_;
  simulated::Kernel* const kernel_;
  mutable std::mutex mutex_;  // Guards the rest.
  std::condition_variable work_;
  std::condition_variable ended_one_;
  IntrusiveList<PoolJob> queue_;
  std::size_t queued_ = 0;
  unsigned idle_ = 0;
  unsigned simulated_running_ = 0;
  bool is_stopping_ = false;
  std::map<std::thread::id, std::thread> threads_;
  std::vector<std::thread> ended_;  // To be joined.
};

}  // namespace sennit::runtime
