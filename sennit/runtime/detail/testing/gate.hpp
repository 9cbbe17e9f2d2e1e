#pragma once
// Gate: holds threads of a pool until the test opens it, and tells how many have come.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <utility>

#include "sennit/runtime/pool_job.hpp"

namespace sennit::runtime::testing {

class Gate {
 public:
  Gate() = default;
  /// Whoever is still about to leave has left.
  ~Gate() {
    std::unique_lock lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return left_ == arrived_; });
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_open_; });
    ++left_;
    changed_.notify_all();
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  /// Until so many have come; a test that fails here has waited for two minutes.
  void await(int count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(2), [&] { return arrived_ >= count; }))
        << arrived_ << " of " << count << " have come";
  }
  int arrived() {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int left_ = 0;
  bool is_open_ = false;
};

/// A job that calls a function.
struct FunctionPoolJob : PoolJob {
  explicit FunctionPoolJob(std::function<void()> f)
      : PoolJob([](PoolJob& job) noexcept { static_cast<FunctionPoolJob&>(job).function(); }),
        function(std::move(f)) {}
  std::function<void()> function;
};

}  // namespace sennit::runtime::testing
