#include "sennit/runtime/joinable.hpp"

#include <condition_variable>
#include <mutex>

#include "sennit/runtime/worker.hpp"

namespace sennit::runtime::detail {
namespace {

struct BlockedThread : Joiner {
  BlockedThread()
      : Joiner([](Joiner& joiner) {
          auto& self = static_cast<BlockedThread&>(joiner);
          const std::lock_guard lock(self.mutex);  // Held while notifying: `self` ends after that.
          self.is_done = true;
          self.done.notify_one();
        }) {}
  void block() {
    std::unique_lock lock(mutex);
    done.wait(lock, [this] { return is_done; });
  }
  std::mutex mutex;
  std::condition_variable done;
  bool is_done = false;
};

}  // namespace

bool JoinCore::arrive(Joiner& joiner) {
  void* expected = nullptr;
  if (word_.compare_exchange_strong(expected, &joiner)) return true;
  SENNIT_ASSERT(expected == this && "one join at a time");
  return false;
}

bool JoinCore::withdraw(Joiner& joiner) {
  void* expected = &joiner;
  return word_.compare_exchange_strong(expected, nullptr);
}

void JoinCore::finish(ActivityState state) {
  state_ = state;
  void* const joiner = word_.exchange(this);
  if (joiner != nullptr) {
    auto& waiting = *static_cast<Joiner*>(joiner);
    waiting.notify_(waiting);
  }
}

void JoinCore::block() {
  SENNIT_ASSERT(Worker::current() == nullptr && "get() would block a worker: wait for join()");
  BlockedThread thread;
  if (arrive(thread)) thread.block();
}

void JoinCore::cancel(EndReason reason, std::shared_ptr<JoinCore> self) {
  if (is_done()) return;
  if (Worker::current() == &worker_) {
    if (activity_ != nullptr) activity_->cancel(reason);
    return;
  }
  worker_.post([core = std::move(self), reason] {
    if (core->activity_ != nullptr) core->activity_->cancel(reason);
  });
}

}  // namespace sennit::runtime::detail
