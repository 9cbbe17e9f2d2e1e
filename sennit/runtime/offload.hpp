#pragma once
// offload and compute: run a function where it does not hold up a worker, and wait for it.
//
//   Result<std::string> text = wait(offload(read_whole_file, path));         // it blocks
//   Result<Image> small = co_await compute("thumbnails", scale, image, 64);  // it takes CPU time
//
// The function and its arguments are moved there, and its result, or what it throws, comes back to
// who waits. It runs outside any worker: it must not wait for anything of the runtime. One pool of
// each kind serves all workers of a runtime; blocking_pool.hpp and compute_pool.hpp have the
// rules. In a simulation both run in an order of the seed, and take virtual time.
//
// Errors: cancelled, if that was asked for before the function had begun (afterwards its result
// is waited for); limit_reached from a full queue, which it names.

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/runtime/pool_job.hpp"
#include "sennit/runtime/pools.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

namespace detail {

/// The result of a call, or what it threw.
template <class R>
class CallOutcome {
 public:
  template <class Call>
  void run(Call&& call) noexcept {
    try {
      if constexpr (std::is_void_v<R>) {
        std::forward<Call>(call)();
      } else {
        value_.emplace(std::forward<Call>(call)());
      }
    } catch (...) {
      exception_ = std::current_exception();
    }
  }
  Result<R> take() {
    if (exception_) std::rethrow_exception(exception_);
    if constexpr (std::is_void_v<R>) {
      return {};
    } else {
      return *std::move(value_);
    }
  }

 private:
  using Value = std::conditional_t<std::is_void_v<R>, char, R>;
  std::optional<Value> value_;
  std::exception_ptr exception_;
};

}  // namespace detail

/// Awaitable, Result of what F returns. `Submit` says where to.
template <class Submit, class F, class... Args>
class PoolCall {
 public:
  static constexpr const char* waits_for = Submit::waits_for;
  using Value = std::invoke_result_t<F, Args...>;

  PoolCall(Submit submit, F function, Args... arguments)
      : submit_(std::move(submit)),
        function_(std::move(function)),
        arguments_(std::move(arguments)...),
        job_(*this) {}
  PoolCall(PoolCall&& other) noexcept  // Before start().
      : submit_(std::move(other.submit_)),
        function_(std::move(other.function_)),
        arguments_(std::move(other.arguments_)),
        job_(*this) {}

  bool ready() { return false; }
  bool start(Waiter& waiter) {
    waiter_ = &waiter;
    if (auto submitted = submit_.submit(waiter.worker().pools(), job_); !submitted) {
      error_.emplace(std::move(submitted).error());
      return false;
    }
    return true;
  }
  void cancel() {
    if (error_ || !submit_.cancel(waiter_->worker().pools(), job_)) return;
    error_.emplace(Errc::cancelled, Submit::waits_for);
    waiter_->wake();
  }
  Result<Value> take() {
    if (error_) return failure(*std::move(error_));
    return outcome_.take();
  }

 private:
  struct CallJob : PoolJob {
    explicit CallJob(PoolCall& c)
        : PoolJob([](PoolJob& job) noexcept {
            PoolCall& self = static_cast<CallJob&>(job).call;
            self.outcome_.run([&]() -> Value {
              return std::apply(std::move(self.function_), std::move(self.arguments_));
            });
            self.waiter_->wake();  // Who waits may destroy us from here on.
          }),
          call(c) {}
    PoolCall& call;
  };

  Submit submit_;
  F function_;
  std::tuple<Args...> arguments_;
  CallJob job_;
  Waiter* waiter_ = nullptr;
  std::optional<Error> error_;
  detail::CallOutcome<Value> outcome_;
};

struct ToBlockingPool {
  static constexpr const char* waits_for = "a blocking call";
  Result<void> submit(Pools& pools, PoolJob& job) const { return pools.blocking.submit(job); }
  bool cancel(Pools& pools, PoolJob& job) const { return pools.blocking.cancel(job); }
};

struct ToComputeQueue {
  static constexpr const char* waits_for = "a computation";
  Result<void> submit(Pools& pools, PoolJob& job) const { return pools.compute.submit(queue, job); }
  bool cancel(Pools& pools, PoolJob& job) const { return pools.compute.cancel(job); }
  std::string queue;
};

template <class F, class... Args>
[[nodiscard]] PoolCall<ToBlockingPool, std::decay_t<F>, std::decay_t<Args>...> offload(
    F&& function, Args&&... arguments) {
  return {ToBlockingPool(), std::forward<F>(function), std::forward<Args>(arguments)...};
}

template <class F, class... Args>
[[nodiscard]] PoolCall<ToComputeQueue, std::decay_t<F>, std::decay_t<Args>...> compute(
    std::string queue, F&& function, Args&&... arguments) {
  return {ToComputeQueue{std::move(queue)}, std::forward<F>(function),
          std::forward<Args>(arguments)...};
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::compute;
using runtime::offload;
}  // namespace sennit
