#include "sennit/runtime/worker.hpp"

#include <algorithm>
#include <atomic>

#include "sennit/base/assert.hpp"
#include "sennit/fiber/overflow.hpp"
#include "sennit/runtime/detail/parking.hpp"
#include "sennit/runtime/detail/stack_trace.hpp"
#include "sennit/runtime/pools.hpp"
#include "sennit/runtime/worker_stats.hpp"

namespace sennit::runtime {
namespace {

std::string_view name_of_running() noexcept {  // Called in a signal handler.
  const Worker* const worker = Worker::current();
  const Activity* const activity = worker == nullptr ? nullptr : worker->activity();
  return activity == nullptr ? std::string_view() : activity->name();
}

constexpr std::size_t unused_activities_max = 4096;

// Ids of activities are unique in the process, so each worker numbers its own from another start.
ActivityId first_activity_id() {
  static std::atomic<ActivityId> workers = 0;
  return ++workers << 48;
}

}  // namespace

constinit thread_local Worker* Worker::current_ = nullptr;

void Waiter::wake() {
  if (worker_ == nullptr) {
    parking_->post(*this);
  } else if (Worker::current() == worker_) {
    worker_->schedule(*this);
  } else {
    worker_->post(*this);
  }
}

void Waiter::hand_over() {
  if (worker_ != nullptr && Worker::current() == worker_) {
    worker_->schedule_this_turn(*this);
  } else {
    wake();
  }
}

void Waiter::resume_coroutine(Job& job) {
  auto& waiter = static_cast<Waiter&>(job);
  waiter.worker_->resume(waiter.coroutine_, waiter.activity_);
}

Result<std::unique_ptr<Worker>> Worker::make(const WorkerOptions& options) {
  SENNIT_TRY(auto backend, io::make_backend(options.backend, options.backend_options));
  return std::unique_ptr<Worker>(new Worker(options, std::move(backend)));
}

Worker::Worker(const WorkerOptions& options, std::unique_ptr<io::Backend> backend)
    : options_(options),
      clock_(options.clock == nullptr ? real_clock_ : *options.clock),
      now_(clock_.now()),
      backend_(std::move(backend)),
      timers_(now_),
      random_(options.seed),
      stats_(std::make_shared<WorkerStats>()),
      next_stats_(now_ + stats_interval),
      last_activity_id_(first_activity_id()),
      stacks_(options.stacks) {
  backend_->when_woken(
      [](void* argument) {
        auto& self = *static_cast<Worker*>(argument);
        self.now_ = self.clock_.now();
        self.stats_->busy_turn.set(self.stats_->turns.get() + 1);
      },
      this);
}

Worker::~Worker() {
  SENNIT_ASSERT(busy_fiber_count() == 0, busy_fiber_count());
  own_pools_.reset();  // Its threads may still be about to wake us.
  fibers_.clear();
  unused_activities_.clear();
}

void Worker::post(Job& job) {
  if (mailbox_.post(job)) backend_->wake();
}

void Worker::stop() {
  post([this] { is_stopping_ = true; });
}

void Worker::run() {
  SENNIT_ASSERT(current_ == nullptr);
  const fiber::OverflowReports reports(&name_of_running);
  current_ = this;
  stats_->busy_turn.set(1);
  while (!is_stopping_) turn();
  finish_closing();
  current_ = nullptr;
}

void Worker::run_turn() {
  SENNIT_ASSERT(current_ == nullptr);
  current_ = this;
  turn();
  current_ = nullptr;
}

Pools& Worker::pools() {
  if (options_.pools != nullptr) return *options_.pools;
  if (own_pools_ == nullptr) {
    own_pools_ = std::make_unique<Pools>(PoolOptions{}, options_.backend_options.simulated_kernel);
  }
  return *own_pools_;
}

bool Worker::has_work() const {
  return !ready_.empty() || !handed_over_.empty() || !mailbox_.empty() ||
         timers_.next_expiry() <= clock_.now();
}

// What was posted before stop() still runs, operations that were cancelled still have their last
// completion to come, and who waits for one is continued. The last poll hands over the closes.
void Worker::finish_closing() {
  const Deadline deadline = Deadline::after(std::chrono::seconds(1), real_clock_);
  do {
    mailbox_.take_all(ready_);
    run_ready();
    const bool has_to_wait = backend_->closing_count() > 0 && ready_.empty();
    backend_->poll(has_to_wait ? Duration(std::chrono::milliseconds(1)) : Duration::zero());
  } while ((backend_->closing_count() > 0 || !ready_.empty() || !handed_over_.empty()) &&
           !deadline.expired(real_clock_.now()));
  backend_->poll(Duration::zero());
}

void Worker::turn() {
  const std::size_t jobs = run_rounds();
  now_ = clock_.now();
  timers_.advance(now_);
  stats_->turns.add(1);
  stats_->jobs.add(jobs);
  stats_->busy_fibers.set(busy_fiber_count());
  stats_->open_sockets.set(backend_->socket_count());
  stacks_.trim(now_);
  if (now_ >= next_stats_) show_stats();
  Duration timeout = Duration::zero();
  if (ready_.empty() && handed_over_.empty() && !is_stopping_ && mailbox_.prepare_to_sleep()) {
    const TimePoint next = std::min(timers_.next_expiry(), stacks_.next_trim());
    timeout = next == TimePoint::max() ? Duration::max() : std::max(next - now_, Duration::zero());
  }
  stats_->ready_jobs.set(timeout == Duration::zero() ? round_jobs_ : 0);
  stats_->busy_turn.set(0);
  backend_->poll(timeout);  // Sets now_ and busy_turn when its wait ends.
  mailbox_.awake();
}

// A poll costs as much as some ten switches, so there are many rounds to a poll; but whoever works
// for long between two waits must not keep the others' I/O waiting. The clock costs as much as two
// switches, so it is asked as seldom as the rounds so far, all being alike, allow.
std::size_t Worker::run_rounds() {
  constexpr unsigned rounds_max = 1024, blind_rounds_max = 16;  // For a clock that stands still.
  // In simulated time a turn is an instant, and what is ready runs once in it.
  const bool has_rounds =
      options_.poll_interval > Duration::zero() && options_.backend != io::BackendKind::simulated;
  std::size_t jobs = 0;
  unsigned next_look = 1;
  for (unsigned round = 1; round <= rounds_max; ++round) {
    mailbox_.take_all(ready_);
    round_jobs_ = run_ready();
    jobs += round_jobs_;
    if (ready_.empty() || is_stopping_ || !has_rounds) break;
    if (round < next_look) continue;
    const Duration elapsed = clock_.now() - now_;
    if (elapsed >= options_.poll_interval) break;
    const auto left = (options_.poll_interval - elapsed).count() / 2;
    const auto affordable = left * round / std::max<std::int64_t>(elapsed.count(), 1);
    next_look =
        round + static_cast<unsigned>(std::clamp<std::int64_t>(affordable, 1, blind_rounds_max));
  }
  return jobs;
}

// With thousands of fibers each switch would wait for memory several times over: so the records of
// those a few jobs ahead are fetched while the ones before them run, and then their stacks.
std::size_t Worker::run_ready() {
  constexpr int distance = 4;
  JobQueue batch;
  batch.take(ready_);
  const Job* stack_ahead = JobQueue::behind_by(batch.front(), distance);
  const Job* record_ahead = JobQueue::behind_by(stack_ahead, distance);
  std::size_t count = 0;
  for (; !batch.empty(); ++count) {
    Job& job = batch.pop();
    if (record_ahead != nullptr) {
      FiberRecord::prefetch_record(*record_ahead);
      record_ahead = JobQueue::behind_by(record_ahead, 1);
    }
    if (stack_ahead != nullptr) {
      FiberRecord::prefetch_stack(*stack_ahead);
      stack_ahead = JobQueue::behind_by(stack_ahead, 1);
    }
    job.run();
  }
  for (int left = handed_over_max; left > 0 && !handed_over_.empty(); --left, ++count) {
    handed_over_.pop().run();
  }
  while (!handed_over_.empty()) ready_.push(handed_over_.pop());
  return count;
}

void Worker::FiberRecord::prefetch_record(const Job& job) {
  if (!job.runs(&FiberRecord::continue_fiber)) return;
  const auto& record = static_cast<const FiberRecord&>(job);
  __builtin_prefetch(&record.fiber, 1);
  __builtin_prefetch(record.activity_, 1);
}

void Worker::FiberRecord::prefetch_stack(const Job& job) {
  if (job.runs(&FiberRecord::continue_fiber)) {
    static_cast<const FiberRecord&>(job).fiber->prefetch();
  }
}

std::shared_ptr<const WorkerStats> Worker::stats() const { return stats_; }

Worker::LagProbe::LagProbe(Worker& w)
    : Job([](Job& job) {
        auto& probe = static_cast<LagProbe&>(job);
        probe.is_queued = false;
        const Duration lag = probe.worker.clock_.now() - probe.since;
        probe.worker.stats_->loop_lag_ns.record(lag.count());
      }),
      worker(w) {}

// What is too dear for every turn.
void Worker::show_stats() {
  next_stats_ = now_ + stats_interval;
  stats_->stacks_on_loan.set(stacks_.on_loan_count());
  stats_->stacks_idle.set(stacks_.idle_count());
  const io::RingDepth depth = backend_->ring_depth();
  stats_->ring_submissions.set(depth.submissions);
  stats_->ring_completions.set(depth.completions);
  stats_->ring_submissions_max.set(depth.submissions_max);
  stats_->ring_completions_max.set(depth.completions_max);
  stats_->cpu_ns.set(thread_cpu_time().count());
  if (lag_probe_.is_queued) return;
  lag_probe_.is_queued = true;
  lag_probe_.since = now_;
  schedule(lag_probe_);
}

Result<Worker::FiberRecord*> Worker::borrow_fiber() {
  SENNIT_TRY(fiber::Stack stack, stacks_.acquire());
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<FiberRecord>(*this));
    idle_.push_back(fibers_.back().get());
  }
  FiberRecord* const record = idle_.back();
  idle_.pop_back();
  record->fiber.emplace(std::move(stack));
  return record;
}

void Worker::schedule_when_a_fiber_ends(Job& job) {
  (busy_fiber_count() > 0 ? without_fiber_ : ready_).push(job);
}

BranchActivity& Worker::acquire_activity(const Activity* parent) {
  if (unused_activities_.empty()) {
    unused_activities_.push_back(std::make_unique<BranchActivity>(*this));
  }
  BranchActivity& activity = *unused_activities_.back().release();
  unused_activities_.pop_back();
  activity.begin(parent, ActivityState::running);
  return activity;
}

void Worker::release_activity(BranchActivity& activity) {
  activity.finish();
  std::unique_ptr<BranchActivity> unused(&activity);
  if (unused_activities_.size() < unused_activities_max) {
    unused_activities_.push_back(std::move(unused));
  }
}

Result<void> Worker::run_on_fiber(FiberJob& job, Activity* activity) {
  SENNIT_TRY(FiberRecord* const record, borrow_fiber());
  record->job = &job;
  if (activity == nullptr) {
    record->own_activity.begin(nullptr, ActivityState::running);
    record->activity_ = &record->own_activity;
  } else {
    activity->set_running();
    record->activity_ = activity;
  }
  switch_to(*record, true);
  return {};
}

void Worker::FiberRecord::enter(void* record) noexcept {
  FiberJob& job = *static_cast<FiberRecord*>(record)->job;
  job.run_(job);
}

void Worker::FiberRecord::continue_fiber(Job& job) {
  auto& record = static_cast<FiberRecord&>(job);
  record.worker().switch_to(record, false);
}

void Worker::switch_to(FiberRecord& record, bool is_new) {
  FiberRecord* const outer_fiber = std::exchange(current_fiber_, &record);
  const bool outer_coroutine = std::exchange(in_coroutine_, false);
  Activity* const outer_activity = std::exchange(activity_, record.activity_);
  if (is_new) {
    record.fiber->start(&FiberRecord::enter, &record);
  } else {
    record.fiber->resume();
  }
  current_fiber_ = outer_fiber;
  in_coroutine_ = outer_coroutine;
  activity_ = outer_activity;
  if (record.fiber->is_finished()) {
    FiberJob& job = *record.job;
    if (record.activity_ == &record.own_activity) record.own_activity.finish();
    record.fiber.reset();
    idle_.push_back(&record);
    if (!without_fiber_.empty()) schedule(without_fiber_.pop());
    job.finished_(job);
  }
}

Waiter& Worker::fiber_waiter() {
  SENNIT_ASSERT(is_on_fiber() && "wait() on a worker needs a fiber: in a coroutine use co_await");
  return *current_fiber_;
}

void Worker::answer(fiber::Fiber& self, void* trace) {
  *static_cast<std::vector<const void*>*>(trace) = detail::trace_stack(self.stack().memory());
}

// The fiber itself is asked, as nothing unwinds a stack better than who runs on it.
std::vector<const void*> Worker::trace_fiber(const Waiter& waiter) {
  auto& fiber = *const_cast<FiberRecord&>(static_cast<const FiberRecord&>(waiter)).fiber;
  std::vector<const void*> trace;
  const auto* const top = static_cast<const std::byte*>(fiber.context().sp);
  if (fiber.is_suspended() && top - fiber.stack().memory().data() >= detail::trace_stack_bytes) {
    fiber.resume(&trace);
  }
  return trace;
}

void Worker::resume(std::coroutine_handle<> coroutine, Activity* activity) {
  if (in_coroutine_) {
    SENNIT_ASSERT(next_coroutine_ == nullptr);
    next_coroutine_ = coroutine;
    next_activity_ = activity;
    return;
  }
  // Inside a coroutine there is no fiber to suspend, even if its first part runs on one's stack.
  FiberRecord* const outer_fiber = std::exchange(current_fiber_, nullptr);
  Activity* const outer_activity = activity_;
  in_coroutine_ = true;
  do {
    activity_ = activity;
    coroutine.resume();
    coroutine = std::exchange(next_coroutine_, nullptr);
    activity = next_activity_;
  } while (coroutine != nullptr);
  in_coroutine_ = false;
  current_fiber_ = outer_fiber;
  activity_ = outer_activity;
}

void Worker::complete(Waiter& waiter) {
  if (waiter.coroutine_ != nullptr && waiter.worker_ == this && in_coroutine_ &&
      next_coroutine_ == nullptr) {
    next_coroutine_ = waiter.coroutine_;
    next_activity_ = waiter.activity_;
  } else {
    waiter.wake();
  }
}

}  // namespace sennit::runtime
