#pragma once
// wait(x): waits for any awaitable in straight-line code, on a fiber.
//
//   wait(sleep_for(10ms));      const Result<std::size_t> read = wait(stream.read(room));
//
// On a worker it must be called on a fiber, not in a coroutine (which says co_await x) nor in a
// completion; anything else stops the program with a message. Off the workers there is nothing to
// suspend; use Runtime::run.

#include <memory>
#include <type_traits>
#include <utility>

#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

template <class A>
  requires Awaitable<std::remove_reference_t<A>>
decltype(auto) wait(A&& awaitable) {
  using Object = std::remove_reference_t<A>;
  Worker& worker = Worker::here();
  Waiter& waiter = worker.fiber_waiter();
  if (!awaitable.ready()) {
    Activity& activity = *waiter.activity();
    activity.begin_wait(std::addressof(awaitable), wait_kind<Object>);
    if (awaitable.start(waiter)) {
      if constexpr (CancellableAwaitable<Object>) {
        if (activity.is_cancelled()) [[unlikely]]
          awaitable.cancel();
      }
      worker.suspend_fiber();
    }
    activity.end_wait();
  }
  return awaitable.take();
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::wait;
}
