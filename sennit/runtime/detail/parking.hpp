#pragma once
// Where a plain thread blocks until what it waits for wakes it, and runs what was meant for it
// meanwhile, as a worker would.
//
// Thread safety: post() from any thread, the rest on the thread that waits.

#include <condition_variable>
#include <mutex>

#include "sennit/runtime/job.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime::detail {

class Parking {
 public:
  void post(Job& job);
  /// Runs each job that is posted, until one of them has set `done`.
  void run_until(const bool& done);

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  JobQueue jobs_;
};

/// The waiter of a plain thread, for one wait.
class ThreadWaiter : private Parking, public Waiter {
 public:
  ThreadWaiter()
      : Waiter(static_cast<Parking&>(*this),
               [](Job& job) { static_cast<ThreadWaiter&>(job).is_woken_ = true; }) {}
  /// Returns once it has been woken.
  void block() { run_until(is_woken_); }

 private:
  bool is_woken_ = false;
};

}  // namespace sennit::runtime::detail
