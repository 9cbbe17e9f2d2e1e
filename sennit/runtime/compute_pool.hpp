#pragma once
// ComputePool: threads for work that keeps a CPU busy, with named queues that are served fairly.
// See compute().
//
// Queues take turns; one of weight n starts n jobs a turn. A queue with nothing to do costs the
// others nothing. Within a queue jobs start in the order of submission, but for the few (at most
// batch_max) that a thread has taken with it; what it cannot run soon is stolen by idle threads.
//
// A queue comes to be with its first job, or with set_queue(), and stays. Its length is bounded.
//
// With a simulated kernel there are no threads: as many jobs are under way as there would be, each
// takes a virtual time drawn by the seed, and they run, one at a time, when theirs is over.
//
// Thread safety: every function from any thread.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/result.hpp"
#include "sennit/runtime/pool_job.hpp"

namespace sennit::runtime {

namespace simulated {
class Kernel;
}

struct ComputeQueueOptions {
  unsigned weight = 1;               // At least 1.
  std::size_t length_max = 100'000;  // Jobs that have not begun.
};

struct ComputePoolOptions {
  unsigned threads = 0;            // 0: as many as there are CPUs. Started with the first job.
  std::size_t queues_max = 1'000;  // Names.
  unsigned batch_max = 4;
  ComputeQueueOptions new_queues = {};
};

class ComputePool {
 public:
  explicit ComputePool(const ComputePoolOptions& options = {}, simulated::Kernel* kernel = nullptr);
  /// Runs what is queued and ends the threads.
  ~ComputePool();
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  /// Errors: limit_reached beyond queues_max names.
  Result<void> set_queue(std::string_view name, const ComputeQueueOptions& options);
  /// Errors: limit_reached, which names the queue, when it is full, when there are too many names,
  /// or when no thread can be started; the job is the caller's again.
  [[nodiscard]] Result<void> submit(std::string_view queue, PoolJob& job);
  /// True if the job had not begun: it will not, and is the caller's again.
  [[nodiscard]] bool cancel(PoolJob& job);

  [[nodiscard]] std::size_t queued_count(std::string_view queue) const;
  [[nodiscard]] unsigned thread_count() const { return thread_count_; }

 private:
  using Queue = detail::ComputeQueue;
  struct Local;  // What a thread has taken with it.

  [[nodiscard]] Result<Queue*> find_or_add(std::string_view name);
  [[nodiscard]] bool start_threads();
  [[nodiscard]] PoolJob& take_fairly();
  void serve(std::size_t self);
  [[nodiscard]] PoolJob* take_own(Local& own);
  [[nodiscard]] PoolJob* take_batch(Local& own);
  [[nodiscard]] PoolJob* steal(std::size_t self);
  void run_simulated();

  const ComputePoolOptions options_;
  simulated::Kernel* const kernel_;
  unsigned thread_count_;
  // Locked before any Local's mutex.
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::map<std::string, std::unique_ptr<Queue>, std::less<>> queues_;
  IntrusiveList<Queue> active_;  // Those with jobs; the first has its turn.
  std::size_t queued_ = 0;
  unsigned simulated_running_ = 0;
  bool is_stopping_ = false;
  bool has_threads_ = false;
  // Jobs in all Locals. Grows only with mutex_ held, so that nobody falls asleep beside one.
  std::atomic<std::size_t> local_count_ = 0;
  std::vector<std::unique_ptr<Local>> locals_;
  std::vector<std::thread> threads_;
};

}  // namespace sennit::runtime
