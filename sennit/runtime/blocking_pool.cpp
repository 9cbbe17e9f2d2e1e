#include "sennit/runtime/blocking_pool.hpp"

#include <algorithm>
#include <pthread.h>
#include <system_error>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::runtime {
namespace {

// What a simulated call takes.
constexpr Duration simulated_min = std::chrono::microseconds(5);
constexpr Duration simulated_max = std::chrono::milliseconds(1);

}  // namespace

BlockingPool::BlockingPool(const BlockingPoolOptions& options, simulated::Kernel* kernel)
    : options_(options), kernel_(kernel) {
  SENNIT_ASSERT(options.threads_max > 0);
}

BlockingPool::~BlockingPool() {
  std::unique_lock lock(mutex_);
  SENNIT_ASSERT(simulated_running_ == 0 && queued_ * (kernel_ != nullptr ? 1 : 0) == 0,
                simulated_running_, queued_);
  is_stopping_ = true;
  work_.notify_all();
  ended_one_.wait(lock, [&] { return threads_.empty(); });
  lock.unlock();
  for (std::thread& thread : ended_) thread.join();
}

Result<void> BlockingPool::submit(PoolJob& job) {
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(mutex_);
    if (queued_ >= options_.queue_max) {
      return failure(Errc::limit_reached,
                     "run on the blocking pool (" + std::to_string(queued_) + " jobs wait)");
    }
    queue_.push_back(job);
    ++queued_;
    if (kernel_ != nullptr) {
      run_simulated();
      return {};
    }
    // An idle thread that was notified counts as idle until it has woken, but so does its job.
    const bool wants_thread = queued_ > idle_ && threads_.size() < options_.threads_max;
    if (wants_thread && !start_thread() && threads_.empty()) {
      job.unlink();
      --queued_;
      return failure(Errc::limit_reached, "start a thread of the blocking pool");
    }
    ended.swap(ended_);
  }
  work_.notify_one();
  for (std::thread& thread : ended) thread.join();  // They are past their last instruction.
  return {};
}

bool BlockingPool::start_thread() {
  try {
    std::thread thread([this] { serve(); });  // It waits for the mutex that we hold.
    const auto id = thread.get_id();
    threads_.emplace(id, std::move(thread));
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void BlockingPool::serve() {
  ::pthread_setname_np(::pthread_self(), "blocking");
  std::unique_lock lock(mutex_);
  for (;;) {
    if (queue_.empty()) {
      if (is_stopping_) break;
      ++idle_;
      const bool in_time =
          work_.wait_for(lock, options_.idle_max, [&] { return !queue_.empty() || is_stopping_; });
      --idle_;
      if (!in_time) break;
      continue;
    }
    PoolJob& job = queue_.pop_front();
    --queued_;
    lock.unlock();
    job.run();  // Which may destroy it.
    lock.lock();
  }
  end_thread();
}

// The handle is left for whoever comes next to join: a thread cannot join itself.
void BlockingPool::end_thread() {
  const auto self = threads_.find(std::this_thread::get_id());
  ended_.push_back(std::move(self->second));
  threads_.erase(self);
  if (threads_.empty()) ended_one_.notify_all();
}

bool BlockingPool::cancel(PoolJob& job) {
  const std::lock_guard lock(mutex_);
  if (!job.is_linked()) return false;
  job.unlink();
  --queued_;
  return true;
}

// With the mutex held. A job leaves the queue when it begins and runs when its time is over.
void BlockingPool::run_simulated() {
  while (simulated_running_ < options_.threads_max && !queue_.empty()) {
    PoolJob& job = queue_.pop_front();
    --queued_;
    ++simulated_running_;
    kernel_->after(kernel_->random_duration(simulated_min, simulated_max), [this, &job] {
      kernel_->note("blocking");
      job.run();
      const std::lock_guard lock(mutex_);
      --simulated_running_;
      run_simulated();
    });
  }
}

unsigned BlockingPool::thread_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<unsigned>(threads_.size());
}

std::size_t BlockingPool::queued_count() const {
  const std::lock_guard lock(mutex_);
  return queued_;
}

}  // namespace sennit::runtime
