#pragma once
// Worker: one thread, one I/O backend, and everything that waits on them. Nothing is shared.
//
// The loop of a worker, one turn:
//   1. jobs that other threads posted join the ready queue
//   2. every job that is ready runs once, then those that were handed something by another, up to
//      a limit; what they all made ready follows, round by round, for 20 us, so that two who pass a
//      message back and forth do not pay for a poll each time, and still do not keep others waiting
//   3. due timers fire
//   4. the backend submits, waits until something happens or the next timer is due, and calls the
//      completions
//
// Thread safety: post(), stop() and the constants from any thread; everything else only on the
// worker's own thread. Fibers and coroutines never leave their worker.

#include <coroutine>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/base/random.hpp"
#include "sennit/base/time.hpp"
#include "sennit/fiber/fiber.hpp"
#include "sennit/fiber/stack_pool.hpp"
#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/detail/frame_slabs.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/job.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

struct Pools;

/// A function to run on a borrowed fiber. Owned by whoever starts it, until `finished` was called.
class FiberJob {
 public:
  using Call = void (*)(FiberJob&) noexcept;
  /// `run` is called on the fiber; `finished` afterwards on the stack that the fiber gave control
  /// back to, where the job may be destroyed or started again.
  FiberJob(Call run, Call finished) : run_(run), finished_(finished) {}
  FiberJob(const FiberJob&) = delete;
  FiberJob& operator=(const FiberJob&) = delete;

 private:
  friend class Worker;
  Call run_;
  Call finished_;
};

struct WorkerOptions {
  unsigned index = 0;
  io::BackendKind backend = io::BackendKind::epoll;  // Not `automatic`.
  io::BackendOptions backend_options = {};
  fiber::StackPool::Options stacks = {};
  std::uint64_t seed = 1;
  const Clock* clock = nullptr;  // Null: the real one. Must outlive the worker.
  Pools* pools = nullptr;        // Null: its own. Must outlive the worker.
  /// While there is always something ready, I/O and timers are looked at this often. Zero: after
  /// everything ready has run once. Simulated workers always do that.
  Duration poll_interval = std::chrono::microseconds(20);
};

struct WorkerStats;

class Worker {
 public:
  /// Makes the backend; on the thread that will call run().
  static Result<std::unique_ptr<Worker>> make(const WorkerOptions& options);
  ~Worker();  // Requires that run() has returned, or was never called.
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// The worker whose thread this is; null elsewhere.
  [[nodiscard]] static Worker* current() { return current_; }
  /// The same where there must be one: elsewhere it stops the program with a message.
  [[nodiscard]] static Worker& here() {
    SENNIT_ASSERT(current_ != nullptr && "this needs a worker: call it inside Runtime::run");
    return *current_;
  }

  // --- Any thread -------------------------------------------------------------------------

  /// Runs the job here, soon, in the order of posting. Never, if run() has returned.
  void post(Job& job);
  /// Runs `function` here, once. Allocates.
  template <class F>
    requires std::invocable<F>
  void post(F function);
  /// Makes run() return once the current turn has ended.
  void stop();
  [[nodiscard]] unsigned index() const { return options_.index; }
  /// What it shows of itself (worker_stats.hpp).
  [[nodiscard]] std::shared_ptr<const WorkerStats> stats() const;

  // --- On the worker ----------------------------------------------------------------------

  /// Turns until stop(). Sockets that were closed are closed when it returns.
  void run();
  /// For whoever runs several workers on one thread: a single turn, in which this is the thread's
  /// current worker. The backend must be one that does not wait.
  void run_turn();
  /// Whether a turn now would run a job or fire a timer.
  [[nodiscard]] bool has_work() const;
  /// Runs the job in the next round.
  void schedule(Job& job) { ready_.push(job); }
  /// Runs the job in this turn, after all that is ready; beyond `handed_over_max` jobs a turn it
  /// falls behind those of the next.
  void schedule_this_turn(Job& job) { handed_over_.push(job); }
  static constexpr int handed_over_max = 128;
  /// Runs it in the turn after some fiber has ended, or in the next if none runs: for another try
  /// when run_on_fiber() found no stack.
  void schedule_when_a_fiber_ends(Job& job);

  /// Runs the job on a borrowed fiber, at once, until it first waits or is done.
  /// Errors: limit_reached, out_of_memory when there is no stack; the job was not started.
  /// Without an activity to be it gets one that inherits nothing.
  [[nodiscard]] Result<void> run_on_fiber(FiberJob& job, Activity* activity = nullptr);
  /// The running fiber's waiter. Stops the program outside a fiber, where there is none.
  [[nodiscard]] Waiter& fiber_waiter();
  [[nodiscard]] bool is_in_coroutine() const { return in_coroutine_; }
  [[nodiscard]] bool is_on_fiber() const { return current_fiber_ != nullptr; }
  /// Gives control back until the fiber's waiter is woken.
  void suspend_fiber() {
    fiber::Fiber& self = *current_fiber_->fiber;
    while (void* const trace = self.suspend()) [[unlikely]]
      answer(self, trace);
  }
  /// Where the fiber that waits as `waiter` stands, innermost first. Empty if the rest of its stack
  /// is too short to look.
  [[nodiscard]] static std::vector<const void*> trace_fiber(const Waiter& waiter);

  /// Starts, or continues, a coroutine: at once, or, if called by a coroutine that is about to
  /// suspend, right after it has. This keeps the stack flat however long the chain is.
  void resume(std::coroutine_handle<> coroutine, Activity* activity);
  /// Called by a coroutine that is done: continues who waits for it.
  void complete(Waiter& waiter);

  /// The activity that runs; null in a job or a completion.
  [[nodiscard]] Activity* activity() const { return activity_; }
  /// One that inherits from `parent` (may be null), from a pool. It is running.
  [[nodiscard]] BranchActivity& acquire_activity(const Activity* parent);
  void release_activity(BranchActivity& activity);
  /// All that exist, in no order, among them unused ones.
  [[nodiscard]] IntrusiveList<Activity>& activities() { return activities_; }
  [[nodiscard]] ActivityId next_activity_id() { return ++last_activity_id_; }

  /// The time of this turn: cheap, and at most a turn old.
  [[nodiscard]] TimePoint now() const { return now_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] io::Backend& backend() { return *backend_; }
  [[nodiscard]] TimerWheel& timers() { return timers_; }
  [[nodiscard]] Random& random() { return random_; }
  [[nodiscard]] detail::FrameSlabs& frames() { return frames_; }
  /// For offload() and compute(); shared by the workers of a runtime.
  [[nodiscard]] Pools& pools();
  /// Fibers that run or wait.
  [[nodiscard]] std::size_t busy_fiber_count() const { return fibers_.size() - idle_.size(); }

 private:
  struct FiberRecord : Waiter {
    explicit FiberRecord(Worker& worker)
        : Waiter(worker, &FiberRecord::continue_fiber), own_activity(worker) {}
    static void continue_fiber(Job& job);
    static void prefetch_record(const Job& job);
    static void prefetch_stack(const Job& job);
    static void enter(void* record) noexcept;
    std::optional<fiber::Fiber> fiber;  // While lent, and its stack with it.
    FiberJob* job = nullptr;
    Activity own_activity;  // For a job that comes without.
  };

  // Queued now and then to see how long it takes until it runs.
  struct LagProbe : Job {
    explicit LagProbe(Worker& worker);
    Worker& worker;
    TimePoint since;
    bool is_queued = false;
  };

  Worker(const WorkerOptions& options, std::unique_ptr<io::Backend> backend);
  void turn();
  std::size_t run_rounds();
  std::size_t run_ready();
  void show_stats();
  void finish_closing();
  static void answer(fiber::Fiber& self, void* trace);
  Result<FiberRecord*> borrow_fiber();
  void switch_to(FiberRecord& record, bool is_new);

  static constinit thread_local Worker* current_;  // The library's only thread_local.

  const WorkerOptions options_;
  RealClock real_clock_;
  const Clock& clock_;
  TimePoint now_;
  std::unique_ptr<io::Backend> backend_;
  TimerWheel timers_;
  Random random_;
  std::unique_ptr<Pools> own_pools_;
  detail::FrameSlabs frames_;
  JobQueue ready_;
  JobQueue handed_over_;
  Mailbox mailbox_;
  std::size_t round_jobs_ = 0;  // Of the last round.
  bool is_stopping_ = false;
  std::shared_ptr<WorkerStats> stats_;
  TimePoint next_stats_;
  LagProbe lag_probe_{*this};

  IntrusiveList<Activity> activities_;
  std::vector<std::unique_ptr<BranchActivity>> unused_activities_;
  Activity* activity_ = nullptr;
  ActivityId last_activity_id_;

  fiber::StackPool stacks_;
  std::vector<std::unique_ptr<FiberRecord>> fibers_;
  std::vector<FiberRecord*> idle_;  // Without a stack. Last in, first out.
  JobQueue without_fiber_;          // Each is scheduled when a fiber ends.
  FiberRecord* current_fiber_ = nullptr;

  bool in_coroutine_ = false;               // The innermost thing that runs is a coroutine.
  std::coroutine_handle<> next_coroutine_;  // To run as soon as that one has suspended.
  Activity* next_activity_ = nullptr;       // Of which it is part.
};

template <class F>
  requires std::invocable<F>
void Worker::post(F function) {
  struct FunctionJob : Job {
    explicit FunctionJob(F f)
        : Job([](Job& job) {
            const std::unique_ptr<FunctionJob> self(static_cast<FunctionJob*>(&job));
            self->function();
          }),
          function(std::move(f)) {}
    F function;
  };
  post(static_cast<Job&>(*new FunctionJob(std::move(function))));
}

}  // namespace sennit::runtime
