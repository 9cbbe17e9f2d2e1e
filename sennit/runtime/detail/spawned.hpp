#pragma once
// Spawned: what a Scope has started, from its place in the ready queue to its end.
//
// The function is moved into it and lives until what it started is done, so that a coroutine's
// captures stay valid. Its end, in order: the activity ends, the function is destroyed, who joins
// goes on, the owner is told.

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "sennit/base/intrusive_list.hpp"
#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/detail/frame_slabs.hpp"
#include "sennit/runtime/joinable.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime::detail {

/// How something that was spawned went wrong.
struct Failure {
  std::exception_ptr exception;  // Null: it returned the error.
  std::optional<Error> error;
  bool is_joinable = false;  // Whoever joins will hear of it.
};

class Spawned;

class SpawnOwner {
 public:
  /// The child is gone already. `failure` is null if all is well.
  virtual void child_ended(std::unique_ptr<Failure> failure) = 0;

 protected:
  ~SpawnOwner() = default;
};

class Spawned : public ListHook<Spawned> {
 public:
  Spawned(SpawnOwner& o, Worker& worker) : owner(o), work(worker) {}
  static void* operator new(std::size_t bytes) { return FrameSlabs::allocate(bytes); }
  static void operator delete(void* memory, std::size_t) noexcept { FrameSlabs::free(memory); }

  SpawnOwner& owner;
  Activity work;

 protected:
  ~Spawned() = default;
};

/// Where the result goes if nobody joins.
template <class R>
struct NoJoin {
  static constexpr bool is_joinable = false;
  [[nodiscard]] ActivityId id() const { return 0; }  // Any.
  void attach(Activity&) {}
  void detach() {}
  void set_exception() {}
  template <class... V>
  void set(V&&...) {}
  void finish(ActivityState) {}
};

template <class R>
struct ToJoin {
  static constexpr bool is_joinable = true;
  std::shared_ptr<JoinState<R>> state;
  [[nodiscard]] ActivityId id() const { return state->id(); }
  void attach(Activity& activity) { state->attach(activity); }
  void detach() { state->detach(); }
  void set_exception() { state->exception = std::current_exception(); }
  template <class... V>
  void set(V&&... value) {
    state->value.emplace(std::forward<V>(value)...);
  }
  void finish(ActivityState end) { state->finish(end); }
};

/// Calls, and sends what comes of it to the sink.
template <class Sink, class Call>
[[nodiscard]] std::unique_ptr<Failure> capture(Sink& sink, Call&& call) noexcept {
  using R = std::decay_t<std::invoke_result_t<Call>>;
  try {
    if constexpr (std::is_void_v<R>) {
      call();
      sink.set();
    } else {
      R result = call();
      std::unique_ptr<Failure> failed;
      if constexpr (is_result<R>) {
        if (!result) {
          failed = std::make_unique<Failure>();
          failed->error = result.error();
          failed->is_joinable = Sink::is_joinable;
        }
      }
      sink.set(std::move(result));
      return failed;
    }
  } catch (...) {
    sink.set_exception();
    auto failed = std::make_unique<Failure>();
    failed->exception = std::current_exception();
    failed->is_joinable = Sink::is_joinable;
    return failed;
  }
  return nullptr;
}

/// To be said by each of the two below at its end; destroys it.
template <class Self, class Sink>
void end_spawned(Self* self, std::unique_ptr<Failure> failure) {
  SpawnOwner& owner = self->owner;
  self->sink.detach();
  const ActivityState state = self->work.finish();
  const bool was_told = state == ActivityState::cancelled || state == ActivityState::killed;
  if (failure && failure->error && failure->error->code() == Errc::cancelled && was_told) {
    failure.reset();  // Doing as one is told is no failure.
  }
  Sink sink = std::move(self->sink);
  if (self->is_linked()) self->unlink();
  delete self;
  sink.finish(state);
  owner.child_ended(std::move(failure));
}

template <class F, class Sink>
struct SpawnedFiber : Spawned, Job, FiberJob {
  SpawnedFiber(SpawnOwner& o, Worker& worker, F f, Sink s)
      : Spawned(o, worker),
        Job([](Job& job) { static_cast<SpawnedFiber&>(job).start(); }),
        FiberJob(
            [](FiberJob& job) noexcept {
              auto& self = static_cast<SpawnedFiber&>(job);
              self.failure = capture(self.sink, self.function);
            },
            [](FiberJob& job) noexcept {
              auto& self = static_cast<SpawnedFiber&>(job);
              end_spawned<SpawnedFiber, Sink>(&self, std::move(self.failure));
            }),
        function(std::move(f)),
        sink(std::move(s)) {
    static_assert(alignof(SpawnedFiber) <= alignof(std::max_align_t));
    sink.attach(work);
  }
  void start() {
    Worker& worker = work.worker();
    if (!worker.run_on_fiber(*this, &work)) worker.schedule_when_a_fiber_ends(*this);
  }
  F function;
  [[no_unique_address]] Sink sink;
  std::unique_ptr<Failure> failure;
};

template <class F, class Sink>
struct SpawnedTask : Spawned, Waiter {
  SpawnedTask(SpawnOwner& o, Worker& worker, F f, Sink s)
      : Spawned(o, worker),
        Waiter(worker, [](Job& job) { static_cast<SpawnedTask&>(job).run(); }),
        function(std::move(f)),
        sink(std::move(s)) {
    static_assert(alignof(SpawnedTask) <= alignof(std::max_align_t));
    sink.attach(work);
  }
  void run() {
    std::unique_ptr<Failure> failure;
    if (!task) {
      work.set_running();
      failure = make_task();
      if (!failure && task->start_as(*this, work)) return;
    }
    if (!failure) failure = capture(sink, [this] { return task->take(); });
    end_spawned<SpawnedTask, Sink>(this, std::move(failure));
  }
  // Calling the function may fail before there is a coroutine.
  std::unique_ptr<Failure> make_task() noexcept {
    try {
      task.emplace(function());
      return nullptr;
    } catch (...) {
      sink.set_exception();
      auto failed = std::make_unique<Failure>();
      failed->exception = std::current_exception();
      failed->is_joinable = Sink::is_joinable;
      return failed;
    }
  }
  F function;
  [[no_unique_address]] Sink sink;
  std::optional<std::invoke_result_t<F&>> task;
};

/// What a function yields, be it at once or as a Task.
template <class R>
struct Yields {
  using type = std::decay_t<R>;
};
template <class T>
struct Yields<Task<T>> {
  using type = T;
};
template <class F>
using YieldOf = typename Yields<std::invoke_result_t<F&>>::type;

template <class F, class Sink>
using SpawnedOf = std::conditional_t<is_task<std::invoke_result_t<F&>>, SpawnedTask<F, Sink>,
                                     SpawnedFiber<F, Sink>>;

}  // namespace sennit::runtime::detail
