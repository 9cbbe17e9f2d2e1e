#pragma once
// shield(x): waits for x to its end, even if the activity that waits is cancelled meanwhile.
//
//   wait(shield(stream.write(goodbye)));      co_await shield(save(state));
//
// For what has to be finished once it was begun. The request to end is kept and takes effect with
// the next wait that is not shielded. If x is a Task, everything it waits for is shielded too.
// Only killing an activity reaches through.

#include <type_traits>
#include <utility>

#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

/// Awaitable; its result is that of the awaitable it holds or refers to.
template <class A>
class Shield {
  using Object = std::remove_reference_t<A>;

 public:
  static constexpr const char* waits_for = wait_kind<Object>.waits_for;

  explicit Shield(A&& awaitable) : awaitable_(std::forward<A>(awaitable)) {}
  bool ready() { return awaitable_.ready(); }
  bool start(Waiter& waiter) {
    activity_ = Worker::here().activity();
    if (activity_ != nullptr) activity_->enter_shield();
    return awaitable_.start(waiter);
  }
  decltype(auto) take() {
    if (activity_ != nullptr) std::exchange(activity_, nullptr)->leave_shield();
    return awaitable_.take();
  }
  /// Reached by killing only: for anything less the activity does not look for it.
  void cancel()
    requires CancellableAwaitable<Object>
  {
    if (activity_ == nullptr || activity_->is_cancelled()) awaitable_.cancel();
  }

 private:
  A awaitable_;
  Activity* activity_ = nullptr;  // Set while it waits.
};

template <class A>
  requires Awaitable<std::remove_reference_t<A>>
[[nodiscard]] Shield<A> shield(A&& awaitable) {
  return Shield<A>(std::forward<A>(awaitable));
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::shield;
}
