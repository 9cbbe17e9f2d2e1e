#pragma once
// Scope: fibers and tasks that run side by side, and end before it does.
//
//   Scope scope;
//   scope.spawn([&] { wait(sleep_for(1ms)); });                      // on a fiber
//   scope.spawn("refill", [&]() -> Task<> { co_await refill(); });   // a coroutine, with a name
//   Joinable<int> sum = scope.spawn_joinable([&] { return add(); });
//   scope.spawn_on(other_worker, [&] { ... });
//   Result<void> all = wait(scope.join());                           // or co_await scope.join()
//
// Each is an Activity that inherits deadline, context and cancellation of the one that spawns it.
// The function is moved to the heap and lives until what it started is done, so that a coroutine's
// captures stay valid.
//
// An exception that leaves a function, or an error that it returns as a Result, cancels the rest
// (unless told to keep going) and comes out of join(), thrown or returned; later ones are dropped.
// With keep_going, what can be joined by itself reports there alone. To end with `cancelled`
// because one was cancelled is no error. A join() that is cancelled, because the activity that
// joins is, cancels all that runs, and ends when that has. So does cancelling the activity that
// made the scope. A scope that was cancelled stays so: what is spawned then starts cancelled.
//
// Thread safety: none; a scope belongs to the worker it is made on, even if what it spawned does
// not. Destroying it with something still running, or with an exception that nobody took from
// join(), stops the program.

#include <concepts>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/detail/remote_spawn.hpp"
#include "sennit/runtime/detail/spawned.hpp"
#include "sennit/runtime/joinable.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

enum class OnError : unsigned char { cancel_rest, keep_going };

class Scope final : private ChildGroup, private detail::SpawnOwner {
 public:
  class Join;

  explicit Scope(OnError on_error = OnError::cancel_rest);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Starts `function` in the worker's next turn; while all stacks are in use, a function that
  /// needs one starts when another fiber has ended. The name must live as long: a literal.
  template <std::invocable F>
  ActivityId spawn(F function) {
    return spawn({}, std::move(function));
  }
  template <std::invocable F>
  ActivityId spawn(std::string_view name, F function) {
    return launch<detail::NoJoin>(name, std::move(function), {});
  }
  /// The same for a result that is waited for by itself. Allocates what the two share.
  template <std::invocable F>
  auto spawn_joinable(F function) {
    return spawn_joinable({}, std::move(function));
  }
  template <std::invocable F>
  auto spawn_joinable(std::string_view name, F function);

  /// The same on another worker of the process, which starts it when it gets to it.
  template <std::invocable F>
  ActivityId spawn_on(Worker& worker, F function);
  template <std::invocable F>
  auto spawn_joinable_on(Worker& worker, F function);

  /// Asks all that runs to end, and what will be spawned.
  void cancel(EndReason reason = EndReason::cancelled) { cancel_children(reason); }

  [[nodiscard]] std::size_t running_count() const { return running_; }

  /// Awaitable, Result<void>: everything spawned is done. One at a time.
  [[nodiscard]] Join join();

 private:
  template <template <class> class Sink, class F>
  ActivityId launch(std::string_view name, F function, Sink<detail::YieldOf<F>> sink);
  template <class F, class Sink>
  ActivityId launch_on(Worker& worker, F function, Sink sink, Inheritance inheritance);
  void begin(detail::Spawned& child, std::string_view name, ActivityId id);
  [[nodiscard]] Inheritance bequeath() const;
  void begin_remote(detail::RemoteSpawn& remote);
  void child_ended(std::unique_ptr<detail::Failure> failure) override;
  void cancel_children(EndReason reason) override;

  Worker& worker_;
  std::size_t running_ = 0;
  Waiter* joiner_ = nullptr;
  std::unique_ptr<detail::Failure> failure_;  // The first.
  IntrusiveList<detail::Spawned> children_;
  IntrusiveList<detail::RemoteSpawn> remote_children_;
  OnError on_error_;
  EndReason end_reason_ = EndReason::none;
};

class Scope::Join {
 public:
  static constexpr const char* waits_for = "what a scope has spawned";

  explicit Join(Scope& scope) : scope_(scope) {}
  bool ready() { return scope_.running_ == 0; }
  bool start(Waiter& waiter);
  void cancel();
  Result<void> take();

 private:
  Scope& scope_;
  bool is_cancelled_ = false;
};

inline Scope::Join Scope::join() { return Join(*this); }

template <template <class> class Sink, class F>
ActivityId Scope::launch(std::string_view name, F function, Sink<detail::YieldOf<F>> sink) {
  using Child = detail::SpawnedOf<F, Sink<detail::YieldOf<F>>>;
  const ActivityId id = sink.id();
  auto& child = *new Child(*this, worker_, std::move(function), std::move(sink));
  begin(child, name, id);
  worker_.schedule(child);
  return child.work.id();
}

template <std::invocable F>
auto Scope::spawn_joinable(std::string_view name, F function) {
  using T = detail::YieldOf<F>;
  auto state = std::make_shared<detail::JoinState<T>>(worker_, worker_.next_activity_id());
  launch<detail::ToJoin>(name, std::move(function), detail::ToJoin<T>{state});
  return Joinable<T>(std::move(state));
}

template <class F, class Sink>
ActivityId Scope::launch_on(Worker& worker, F function, Sink sink, Inheritance inheritance) {
  const ActivityId id = inheritance.id;
  begin_remote(*new detail::RemoteSpawnOf<F, Sink>(*this, worker_, worker, std::move(function),
                                                   std::move(sink), std::move(inheritance)));
  return id;
}

template <std::invocable F>
ActivityId Scope::spawn_on(Worker& worker, F function) {
  return launch_on(worker, std::move(function), detail::NoJoin<detail::YieldOf<F>>(), bequeath());
}

template <std::invocable F>
auto Scope::spawn_joinable_on(Worker& worker, F function) {
  using T = detail::YieldOf<F>;
  Inheritance inheritance = bequeath();
  auto state = std::make_shared<detail::JoinState<T>>(worker, inheritance.id);
  launch_on(worker, std::move(function), detail::ToJoin<T>{state}, std::move(inheritance));
  return Joinable<T>(std::move(state));
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::Scope;
}
