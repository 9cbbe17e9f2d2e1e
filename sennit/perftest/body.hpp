#pragma once
// What is measured: a body that brings its own loop.
//
// Loop and body are one function to the compiler, so that a call costs a decrement, a load and a
// branch on top of what the body does. The clock is read between batches of calls.
//
// Thread safety: run() is called by as many threads or fibers at once as the test asks for; abort()
// from any.

#include <atomic>
#include <cstdint>

namespace sennit::perftest {

/// Which of the threads, or fibers, that call a body at once.
struct Thread {
  int index = 0;
  int count = 1;
};

/// Calls to make. A body counts down what is left, and ends early once it is stopped.
struct Batch {
  Thread thread;
  std::uint64_t left;
  const std::atomic<bool>& stop;

  /// Relaxed: it pairs with the store in Body::abort(), which carries nothing else.
  [[nodiscard]] bool stopped() const { return stop.load(std::memory_order_relaxed); }
};

class Body {
 public:
  virtual ~Body() = default;

  /// Makes batch.left calls, counting it down, unless the batch is stopped.
  virtual void run(Batch& batch) = 0;
  /// Whether to end early, asked once per batch: a failed assertion needs no second time.
  [[nodiscard]] virtual bool failed() const { return false; }

  /// Ends the measurement after this call.
  void abort() { aborted_.store(true, std::memory_order_relaxed); }  // See Batch::stopped().
  [[nodiscard]] const std::atomic<bool>& aborted() const { return aborted_; }

 private:
  std::atomic<bool> aborted_ = false;
};

}  // namespace sennit::perftest
