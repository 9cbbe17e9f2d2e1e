#include "sennit/runtime/registry.hpp"

#include <chrono>
#include <condition_variable>
#include <fmt/core.h>
#include <memory>
#include <mutex>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/detail/stack_trace.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/shield.hpp"

namespace sennit::runtime {
namespace {

// From the innermost coroutine outwards, and down the fiber's stack if one began it all.
std::vector<const void*> trace_of(const Activity& activity) {
  std::vector<const void*> trace;
  const Waiter* waiter = activity.waiter();
  while (waiter != nullptr && waiter->activity() == &activity) {
    if (waiter->coroutine() == nullptr) {
      const std::vector<const void*> stack = Worker::trace_fiber(*waiter);
      trace.insert(trace.end(), stack.begin(), stack.end());
      break;
    }
    if (waiter->promise() == nullptr || trace.size() >= detail::trace_frames_max) break;
    // A suspended frame begins with where it goes on, in every ABI that there is.
    trace.push_back(*static_cast<const void* const*>(waiter->coroutine().address()));
    waiter = waiter->promise()->continuation();
  }
  return trace;
}

// What the workers' answers come together in; it lives until the last one, heard or not.
struct Gathering {
  explicit Gathering(std::size_t workers) : answers(workers) {}
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<ActivityInfo>> answers;
  std::vector<bool> has_answered = std::vector<bool>(answers.size());
  std::size_t answered_count = 0;
};

std::string described(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  if (ms < 1000) return fmt::format("{} ms", ms);
  return fmt::format("{}.{} s", ms / 1000, ms % 1000 / 100);
}

}  // namespace

std::vector<ActivityInfo> list_activities_here(Traces traces) {
  Worker& worker = Worker::here();
  const TimePoint now = worker.clock().now();
  std::vector<ActivityInfo> list;
  for (Activity& activity : worker.activities()) {
    if (activity.state() == ActivityState::unused) continue;
    ActivityInfo& info = list.emplace_back();
    info.id = activity.id();
    info.parent = activity.parent();
    info.worker = worker.index();
    info.state = activity.state();
    info.name = activity.name();
    if (activity.waits_for() != nullptr) info.waits_for = activity.waits_for();
    info.age = now - activity.started_at();
    info.time_left = activity.deadline().remaining(now);
    info.end_reason = activity.end_reason();
    if (traces == Traces::with) info.trace = trace_of(activity);
  }
  return list;
}

ActivityList list_activities(Runtime& runtime, Traces traces, Duration patience) {
  SENNIT_ASSERT(Worker::current() == nullptr && "this would block a worker: gather_activities()");
  const auto gathering = std::make_shared<Gathering>(runtime.worker_count());
  for (unsigned i = 0; i < runtime.worker_count(); ++i) {
    runtime.worker(i).post([gathering, traces, i] {
      std::vector<ActivityInfo> answer = list_activities_here(traces);
      const std::lock_guard lock(gathering->mutex);
      gathering->answers[i] = std::move(answer);
      gathering->has_answered[i] = true;
      ++gathering->answered_count;
      gathering->changed.notify_one();
    });
  }
  ActivityList list;
  std::unique_lock lock(gathering->mutex);
  gathering->changed.wait_for(lock, patience,
                              [&] { return gathering->answered_count == runtime.worker_count(); });
  for (unsigned i = 0; i < runtime.worker_count(); ++i) {
    if (!gathering->has_answered[i]) list.silent_workers.push_back(i);
    for (ActivityInfo& info : gathering->answers[i]) list.activities.push_back(std::move(info));
  }
  return list;
}

Task<ActivityList> gather_activities(Runtime& runtime, Traces traces) {
  Scope scope;
  std::vector<Joinable<std::vector<ActivityInfo>>> answers;
  for (unsigned i = 0; i < runtime.worker_count(); ++i) {
    answers.push_back(scope.spawn_joinable_on(runtime.worker(i),
                                              [traces] { return list_activities_here(traces); }));
  }
  ActivityList list;
  for (auto& answer : answers) {
    auto join = shield(answer.join());
    Result<std::vector<ActivityInfo>> infos = co_await join;
    for (ActivityInfo& info : *infos) list.activities.push_back(std::move(info));
  }
  auto join = shield(scope.join());
  co_await join;
  co_return list;
}

std::string format_activities(const ActivityList& list) {
  const detail::Symbols symbols;
  std::string text = fmt::format("{} activities\n", list.activities.size());
  for (const unsigned worker : list.silent_workers) {
    text += fmt::format("worker {} does not answer: something has held it for long\n", worker);
  }
  for (const ActivityInfo& info : list.activities) {
    text += fmt::format("\nactivity {:#x} \"{}\" on worker {}: {}", info.id, info.name, info.worker,
                        to_string(info.state));
    if (!info.waits_for.empty()) text += " for " + info.waits_for;
    text += ", " + described(info.age) + " old";
    if (info.time_left != Duration::max()) text += ", " + described(info.time_left) + " left";
    if (info.end_reason != EndReason::none) text += ", asked to end";
    if (info.parent != 0) text += fmt::format(", spawned by {:#x}", info.parent);
    text += '\n';
    for (const void* const address : info.trace) {
      text += "    " + symbols.describe(address) + '\n';
    }
  }
  return text;
}

void end_activity(Runtime& runtime, ActivityId id, EndReason reason) {
  for (unsigned i = 0; i < runtime.worker_count(); ++i) {
    runtime.worker(i).post([id, reason] {
      for (Activity& activity : Worker::here().activities()) {
        if (activity.id() != id) continue;
        activity.cancel(reason);
        return;
      }
    });
  }
}

}  // namespace sennit::runtime
