#pragma once
// wait(x): waits for any awaitable in straight-line code, on a fiber or on a plain thread.
//
//   wait(sleep_for(10ms));      const Result<std::size_t> read = wait(stream.read(room));
//
// On a worker it must be called on a fiber, not in a coroutine (which says co_await x) nor in a
// completion; anything else stops the program with a message. Off the workers it blocks the thread:
// for a main or a test that waits for a Future, a Channel or any other primitive that works across
// threads; what needs a worker (a Task, a sleep, I/O) stops the program there, use Runtime::run.

#include <memory>
#include <type_traits>
#include <utility>

#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/detail/parking.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

namespace detail {
template <class A>
decltype(auto) wait_on_thread(A&& awaitable) {
  ThreadWaiter waiter;
  if (!awaitable.ready() && awaitable.start(waiter)) waiter.block();
  return awaitable.take();
}
}  // namespace detail

template <class A>
  requires Awaitable<std::remove_reference_t<A>>
decltype(auto) wait(A&& awaitable) {
  using Object = std::remove_reference_t<A>;
  Worker* const worker = Worker::current();
  if (worker == nullptr) return detail::wait_on_thread(std::forward<A>(awaitable));
  Waiter& waiter = worker->fiber_waiter();
  if (!awaitable.ready()) {
    Activity& activity = *waiter.activity();
    activity.begin_wait(std::addressof(awaitable), wait_kind<Object>, waiter);
    if (awaitable.start(waiter)) {
      if constexpr (CancellableAwaitable<Object>) {
        if (activity.is_cancelled()) [[unlikely]]
          awaitable.cancel();
      }
      worker->suspend_fiber();
    }
    activity.end_wait();
  }
  return awaitable.take();
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::wait;
}
