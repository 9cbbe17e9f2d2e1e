#include "sennit/runtime/compute_pool.hpp"

#include <algorithm>
#include <pthread.h>
#include <system_error>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::runtime {

namespace detail {

struct ComputeQueue : ListHook<ComputeQueue> {
  ComputeQueueOptions options;
  IntrusiveList<PoolJob> jobs;
  std::size_t length = 0;
  unsigned started = 0;  // In this turn.
};

}  // namespace detail

namespace {

// What a simulated job takes.
constexpr Duration simulated_min = std::chrono::microseconds(1);
constexpr Duration simulated_max = std::chrono::microseconds(200);

}  // namespace

struct ComputePool::Local {
  std::mutex mutex;
  IntrusiveList<PoolJob> jobs;
  std::size_t count = 0;
};

ComputePool::ComputePool(const ComputePoolOptions& options, simulated::Kernel* kernel)
    : options_(options),
      kernel_(kernel),
      thread_count_(options.threads != 0 ? options.threads
                                         : std::max(1U, std::thread::hardware_concurrency())) {
  SENNIT_ASSERT(options.batch_max > 0 && options.new_queues.weight > 0);
  if (kernel != nullptr && options.threads == 0) thread_count_ = 2;  // Whatever this machine has.
}

ComputePool::~ComputePool() {
  {
    const std::lock_guard lock(mutex_);
    SENNIT_ASSERT(simulated_running_ == 0, simulated_running_);
    is_stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  SENNIT_ASSERT(queued_ == 0, queued_);
}

// --- Queues -------------------------------------------------------------------------------------

Result<ComputePool::Queue*> ComputePool::find_or_add(std::string_view name) {
  const auto found = queues_.find(name);
  if (found != queues_.end()) return found->second.get();
  if (queues_.size() >= options_.queues_max) {
    return failure(Errc::limit_reached, "add the compute queue '" + std::string(name) + "' to " +
                                            std::to_string(queues_.size()) + " others");
  }
  auto queue = std::make_unique<Queue>();
  queue->options = options_.new_queues;
  return queues_.emplace(name, std::move(queue)).first->second.get();
}

Result<void> ComputePool::set_queue(std::string_view name, const ComputeQueueOptions& options) {
  SENNIT_ASSERT(options.weight > 0);
  const std::lock_guard lock(mutex_);
  SENNIT_TRY(Queue* const queue, find_or_add(name));
  queue->options = options;
  return {};
}

Result<void> ComputePool::submit(std::string_view queue_name, PoolJob& job) {
  {
    const std::lock_guard lock(mutex_);
    SENNIT_TRY(Queue* const queue, find_or_add(queue_name));
    if (queue->length >= queue->options.length_max) {
      return failure(Errc::limit_reached, "queue for computing on '" + std::string(queue_name) +
                                              "' (" + std::to_string(queue->length) +
                                              " jobs wait)");
    }
    if (kernel_ == nullptr && !start_threads()) {
      return failure(Errc::limit_reached,
                     "start a thread for the compute queue '" + std::string(queue_name) + "'");
    }
    queue->jobs.push_back(job);
    job.queue_ = queue;
    ++queued_;
    if (queue->length++ == 0) active_.push_back(*queue);
    if (kernel_ != nullptr) run_simulated();
  }
  work_.notify_one();
  return {};
}

// Weighted round robin. Requires the mutex and queued_ > 0.
PoolJob& ComputePool::take_fairly() {
  Queue& queue = active_.front();
  PoolJob& job = queue.jobs.pop_front();
  job.queue_ = nullptr;
  --queued_;
  const bool is_empty = --queue.length == 0;
  if (++queue.started >= queue.options.weight || is_empty) {
    queue.started = 0;
    queue.unlink();
    if (!is_empty) active_.push_back(queue);
  }
  return job;
}

bool ComputePool::cancel(PoolJob& job) {
  const std::lock_guard lock(mutex_);
  if (job.queue_ != nullptr) {
    Queue& queue = *job.queue_;
    job.unlink();
    job.queue_ = nullptr;
    --queued_;
    if (--queue.length == 0) {
      queue.started = 0;
      queue.unlink();
    }
    return true;
  }
  // It runs, or is with some thread. Nothing moves between threads while all of these are held.
  std::vector<std::unique_lock<std::mutex>> held;
  for (const auto& local : locals_) held.emplace_back(local->mutex);
  if (!job.is_linked()) return false;
  job.unlink();
  for (const auto& local : locals_) local->count = local->jobs.count();
  --local_count_;
  return true;
}

std::size_t ComputePool::queued_count(std::string_view queue) const {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(queue);
  return found == queues_.end() ? 0 : found->second->length;
}

// --- Threads ------------------------------------------------------------------------------------

bool ComputePool::start_threads() {
  if (has_threads_) return true;
  while (locals_.size() < thread_count_) locals_.push_back(std::make_unique<Local>());
  try {
    while (threads_.size() < thread_count_) {
      threads_.emplace_back([this, self = threads_.size()] { serve(self); });
    }
  } catch (const std::system_error&) {  // Fewer will do.
  }
  has_threads_ = !threads_.empty();
  return has_threads_;
}

void ComputePool::serve(std::size_t self) {
  ::pthread_setname_np(::pthread_self(), ("compute-" + std::to_string(self)).c_str());
  {
    const std::lock_guard until_all_are_made(mutex_);
  }
  Local& own = *locals_[self];
  for (;;) {
    PoolJob* job = take_own(own);
    if (job == nullptr) job = take_batch(own);
    if (job == nullptr) job = steal(self);
    if (job != nullptr) {
      job->run();  // Which may destroy it.
      continue;
    }
    std::unique_lock lock(mutex_);
    work_.wait(lock, [&] { return queued_ > 0 || local_count_ > 0 || is_stopping_; });
    if (is_stopping_ && queued_ == 0 && local_count_ == 0) return;
  }
}

PoolJob* ComputePool::take_own(Local& own) {
  const std::lock_guard lock(own.mutex);
  if (own.jobs.empty()) return nullptr;
  --own.count;
  --local_count_;
  return &own.jobs.pop_front();
}

// The first is to be run at once, the rest is taken along, so that a flood of short jobs does not
// come back to the common mutex for each; but never more than our share.
PoolJob* ComputePool::take_batch(Local& own) {
  const std::lock_guard lock(mutex_);
  if (queued_ == 0) return nullptr;
  const std::size_t share = queued_ / (2 * std::size_t{thread_count_});
  const std::size_t more = std::min<std::size_t>(share, options_.batch_max - 1);
  PoolJob& first = take_fairly();
  const std::lock_guard own_lock(own.mutex);
  for (std::size_t i = 0; i < more; ++i) {
    own.jobs.push_back(take_fairly());
    ++own.count;
    ++local_count_;
  }
  return &first;
}

// The older half of what the next thread has that has something.
PoolJob* ComputePool::steal(std::size_t self) {
  Local& own = *locals_[self];
  for (std::size_t distance = 1; distance < locals_.size(); ++distance) {
    Local& victim = *locals_[(self + distance) % locals_.size()];
    const std::scoped_lock both(own.mutex, victim.mutex);
    if (victim.jobs.empty()) continue;
    PoolJob& first = victim.jobs.pop_front();
    for (std::size_t left = (victim.count - 1) / 2; left > 0; --left) {
      own.jobs.push_back(victim.jobs.pop_front());
      ++own.count;
      --victim.count;
    }
    --victim.count;
    --local_count_;
    return &first;
  }
  return nullptr;
}

// With the mutex held.
void ComputePool::run_simulated() {
  while (simulated_running_ < thread_count_ && queued_ > 0) {
    PoolJob& job = take_fairly();
    ++simulated_running_;
    kernel_->after(kernel_->random_duration(simulated_min, simulated_max), [this, &job] {
      kernel_->note("compute");
      job.run();
      const std::lock_guard lock(mutex_);
      --simulated_running_;
      run_simulated();
    });
  }
}

}  // namespace sennit::runtime
