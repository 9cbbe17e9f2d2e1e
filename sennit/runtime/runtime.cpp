#include "sennit/runtime/runtime.hpp"

#include <condition_variable>
#include <future>
#include <mutex>
#include <pthread.h>
#include <sched.h>

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"
#include "sennit/base/random.hpp"
#include "sennit/runtime/detail/simulated_worker.hpp"
#include "sennit/runtime/dump_on_signal.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::runtime {
namespace {

void pin_to_cpu(unsigned index) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  unsigned nth = index % static_cast<unsigned>(CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || nth-- > 0) continue;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (const int refused = ::pthread_setaffinity_np(::pthread_self(), sizeof only, &only);
        refused != 0) {
      log::warning("worker {} is not pinned: {}", index,
                   Error::from_os(refused, "pin to a CPU").to_string());
    }
    return;
  }
}

// A call that a thread outside waits for.
struct AwaitedCall : Job, FiberJob {
  AwaitedCall(Worker& w, const std::function<void()>& b)
      : Job([](Job& job) { static_cast<AwaitedCall&>(job).start(); }),
        FiberJob([](FiberJob& job) noexcept { static_cast<AwaitedCall&>(job).body(); },
                 [](FiberJob& job) noexcept { static_cast<AwaitedCall&>(job).finish(); }),
        worker(w),
        body(b) {}
  void start() {
    if (!worker.run_on_fiber(*this)) worker.schedule_when_a_fiber_ends(*this);
  }
  void finish() {
    const std::lock_guard lock(mutex);  // Held while notifying: the waiting thread destroys us.
    is_done = true;
    done.notify_one();
  }
  void await() {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return is_done; });
  }

  Worker& worker;
  const std::function<void()>& body;
  std::mutex mutex;
  std::condition_variable done;
  bool is_done = false;
};

}  // namespace

Runtime::Runtime(io::BackendKind backend) : backend_(backend) {}

Result<std::unique_ptr<Runtime>> Runtime::start(const RuntimeOptions& options) {
  if (options.workers == 0 || options.workers > 1024) {
    return failure(Errc::invalid_argument, "start " + std::to_string(options.workers) +
                                               " workers (1 to 1024 are possible)");
  }
  SENNIT_TRY(const io::BackendChoice choice, io::choose_backend(options.backend));
  std::unique_ptr<Runtime> runtime(new Runtime(choice.kind));
  if (choice.kind == io::BackendKind::simulated) {
    runtime->kernel_ = options.backend_options.simulated_kernel;
    if (runtime->kernel_ == nullptr) {
      simulated::Kernel::Options kernel_options;
      kernel_options.seed = options.seed == 0 ? random_seed() : options.seed;
      runtime->own_kernel_ = std::make_unique<simulated::Kernel>(kernel_options);
      runtime->kernel_ = runtime->own_kernel_.get();
    }
  }
  runtime->pools_ = std::make_unique<Pools>(options.pools, runtime->kernel_);
  for (unsigned i = 0; i < options.workers; ++i) {
    if (auto started = runtime->start_worker(options, i); !started) {
      return failure(std::move(started).error());
    }
  }
  if (runtime->kernel_ != nullptr) return runtime;  // A test makes thousands.
  if (options.dump_on_sigquit) runtime->dump_on_signal_ = std::make_unique<DumpOnSignal>(*runtime);
  log::info("{} worker{} on {} ({})", options.workers, options.workers == 1 ? "" : "s",
            runtime->worker(0).backend().name(), choice.reason);
  return runtime;
}

Result<void> Runtime::start_worker(const RuntimeOptions& options, unsigned index) {
  WorkerOptions worker_options;
  worker_options.index = index;
  worker_options.backend = backend_;
  worker_options.backend_options = options.backend_options;
  worker_options.stacks = options.stacks;
  worker_options.seed = options.seed == 0 ? random_seed() : options.seed + index;
  worker_options.clock = options.clock;
  worker_options.pools = pools_.get();
  worker_options.backend_options.blocking_pool = &pools_->blocking;
  if (kernel_ != nullptr) {
    worker_options.backend_options.simulated_kernel = kernel_;
    if (options.seed == 0) worker_options.seed = kernel_->random().next();
    if (options.clock == nullptr) worker_options.clock = &kernel_->clock();
    return start_simulated_worker(worker_options);
  }

  std::promise<Result<Worker*>> made;
  auto future = made.get_future();
  // The thread keeps the promise: fulfilling it touches it once more after we have gone on.
  std::thread thread([made = std::move(made), worker_options, pin = options.pin, index]() mutable {
    if (pin) pin_to_cpu(index);
    ::pthread_setname_np(::pthread_self(), ("worker-" + std::to_string(index)).c_str());
    auto worker = Worker::make(worker_options);  // Here, as a ring belongs to its thread.
    if (!worker) return made.set_value(failure(std::move(worker).error()));
    Worker* const running = worker->release();  // The runtime's from here on.
    made.set_value(running);
    running->run();
  });
  Result<Worker*> worker = future.get();
  if (!worker) {
    thread.join();
    return failure(std::move(worker).error());
  }
  workers_.emplace_back(*worker);
  threads_.push_back(std::move(thread));
  return {};
}

Result<void> Runtime::start_simulated_worker(const WorkerOptions& options) {
  SENNIT_TRY(std::unique_ptr<Worker> worker, Worker::make(options));
  simulated_.push_back(std::make_unique<detail::SimulatedWorker>(*worker, *kernel_));
  workers_.push_back(std::move(worker));
  return {};
}

void Runtime::run_on_fiber(unsigned index, const std::function<void()>& body) {
  SENNIT_ASSERT(Worker::current() == nullptr && "Runtime::run would block a worker: use a Scope");
  SENNIT_ASSERT(!is_stopped_ && "Runtime::run after stop()");
  AwaitedCall call(worker(index), body);
  call.worker.post(call);
  if (kernel_ != nullptr) return kernel_->run_until([&] { return call.is_done; });
  call.await();
}

Runtime::~Runtime() {
  stop();
  pools_.reset();  // Before the workers, whom its threads may still be about to wake.
}

void Runtime::stop() {
  if (std::exchange(is_stopped_, true)) return;
  dump_on_signal_.reset();  // It asks the workers.
  for (auto& worker : workers_) worker->stop();
  for (auto& each : simulated_) each->finish();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace sennit::runtime
