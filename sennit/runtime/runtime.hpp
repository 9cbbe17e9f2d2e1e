#pragma once
// Runtime: the workers of a process.
//
// On the simulated backend there are no threads: whoever calls run() turns the workers, and those
// of every other runtime of the same simulated kernel, until its function has ended.
//
// Thread safety: run() from several threads at once, everything else from one; none from a worker.

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/pools.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/wait.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

namespace detail {
class SimulatedWorker;
}

class DumpOnSignal;

struct RuntimeOptions {
  unsigned workers = 1;
  io::BackendKind backend = io::BackendKind::automatic;
  io::BackendOptions backend_options = {};
  bool pin = false;  // Worker n to the n-th CPU this process may use, wrapping around.
  fiber::StackPool::Options stacks = {};
  std::uint64_t seed = 0;  // 0: from the kernel's entropy.
  const Clock* clock = nullptr;
  PoolOptions pools = {};  // For offload() and compute().
  /// Prints every activity and where it stands when the process gets SIGQUIT (dump_on_signal.hpp).
  bool dump_on_sigquit = false;
};

class Runtime {
 public:
  /// Starts the workers, each on a thread of its own, and logs which backend serves and why.
  /// Errors: unsupported for a backend that this kernel refuses; what its set-up says.
  [[nodiscard]] static Result<std::unique_ptr<Runtime>> start(const RuntimeOptions& options);

  /// stop(), then the workers are destroyed. What they ran must have ended (see Worker::~Worker).
  ~Runtime();
  /// Ends the workers' loops and joins their threads. What is left of them may then be looked at,
  /// and objects that belong to them destroyed, from the calling thread.
  void stop();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] unsigned worker_count() const { return static_cast<unsigned>(workers_.size()); }
  /// Requires index < worker_count().
  [[nodiscard]] Worker& worker(unsigned index) {
    SENNIT_ASSERT(index < workers_.size(), index, workers_.size());
    return *workers_[index];
  }
  [[nodiscard]] io::BackendKind backend() const { return backend_; }
  /// Of the worker's thread, for signals. Not on the simulated backend, nor after stop().
  [[nodiscard]] std::thread::native_handle_type thread_handle(unsigned index) {
    SENNIT_ASSERT(index < threads_.size(), index, threads_.size());
    return threads_[index].native_handle();
  }
  /// What offload() and compute() run on.
  [[nodiscard]] Pools& pools() { return *pools_; }
  /// Null unless the backend is simulated. A runtime that was given none has its own.
  [[nodiscard]] simulated::Kernel* simulated_kernel() const { return kernel_; }

  /// Runs `function` on worker `index`, on a fiber, or as a coroutine if it returns a Task, and
  /// blocks until it has ended. Returns what it returns and throws what it throws. Not after
  /// stop().
  template <class F>
  auto run(F function, unsigned index = 0);

 private:
  explicit Runtime(io::BackendKind backend);
  Result<void> start_simulated_worker(const WorkerOptions& options);
  Result<void> start_worker(const RuntimeOptions& options, unsigned index);
  void run_on_fiber(unsigned index, const std::function<void()>& body);

  io::BackendKind backend_;
  bool is_stopped_ = false;
  std::unique_ptr<simulated::Kernel> own_kernel_;
  simulated::Kernel* kernel_ = nullptr;
  std::unique_ptr<Pools> pools_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<detail::SimulatedWorker>> simulated_;  // What turns each of them.
  std::vector<std::thread> threads_;
  std::unique_ptr<DumpOnSignal> dump_on_signal_;
};

namespace detail {
template <class R>
struct RunResult {
  std::optional<R> value;
  template <class F>
  void call(F& function) {
    value.emplace(function());
  }
  R take() { return *std::move(value); }
};
template <>
struct RunResult<void> {
  template <class F>
  void call(F& function) {
    function();
  }
  void take() {}
};
}  // namespace detail

template <class F>
auto Runtime::run(F function, unsigned index) {
  using R = std::invoke_result_t<F>;
  if constexpr (is_task<R>) {
    return run([&] { return wait(function()); }, index);
  } else {
    detail::RunResult<R> result;
    std::exception_ptr exception;
    run_on_fiber(index, [&] {
      try {
        result.call(function);
      } catch (...) {
        exception = std::current_exception();
      }
    });
    if (exception) std::rethrow_exception(exception);
    return result.take();
  }
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::Runtime;
using runtime::RuntimeOptions;
}  // namespace sennit
