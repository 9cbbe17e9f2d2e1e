#include "sennit/runtime/detail/parking.hpp"

namespace sennit::runtime::detail {

void Parking::post(Job& job) {
  const std::lock_guard lock(mutex_);  // Held while notifying: who waits destroys us.
  jobs_.push(job);
  posted_.notify_one();
}

void Parking::run_until(const bool& done) {
  std::unique_lock lock(mutex_);
  while (!done) {
    posted_.wait(lock, [&] { return !jobs_.empty(); });
    Job& job = jobs_.pop();
    lock.unlock();
    job.run();
    lock.lock();
  }
}

}  // namespace sennit::runtime::detail
