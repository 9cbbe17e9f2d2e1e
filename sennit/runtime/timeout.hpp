#pragma once
// Timeouts: with_deadline(deadline, x) and timeout_after(delay, x) wait for x, but not for ever.
//
//   Result<std::size_t> read = wait(timeout_after(200ms, stream.read(room)));
//   Result<Page> page = co_await with_deadline(deadline, fetch(url));       // a Task<Result<Page>>
//
// When the time has passed x is asked to end, and has ended when we go on: nothing runs on behind
// our back. Its result counts if it came first. A Task becomes an activity of its own, whose
// deadline() says until when it may take.
//
// Errors: timed_out; otherwise those of x. What is no Result<> becomes one, which says timed_out if
// the time had passed before x ended. Arming and disarming take constant time, and allocate nothing
// but for a Task.

#include <optional>
#include <type_traits>
#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/waiter.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

/// Awaitable, Result<>; see above.
template <class A>
class Timeout {
  using Object = std::remove_reference_t<A>;
  using Taken = std::remove_cvref_t<decltype(std::declval<Object&>().take())>;
  using Outcome = AsResult<Taken>;

 public:
  static constexpr const char* waits_for = wait_kind<Object>.waits_for;

  Timeout(Deadline deadline, A&& awaitable)
      : deadline_(deadline), awaitable_(std::forward<A>(awaitable)) {}
  Timeout(Duration delay, A&& awaitable) : delay_(delay), awaitable_(std::forward<A>(awaitable)) {}
  Timeout(Timeout&& other) noexcept
      : deadline_(other.deadline_),
        delay_(other.delay_),
        awaitable_(std::forward<A>(other.awaitable_)) {}

  bool ready() { return awaitable_.ready(); }
  bool start(Waiter& waiter) {
    Worker& worker = waiter.worker();
    has_passed_ = is_cancelled_ = false;
    if (delay_) deadline_ = Deadline::after(*delay_, worker.clock());
    if (!start_awaitable(waiter)) return false;
    if (deadline_.expired(worker.now())) {
      pass();
    } else if (!deadline_.is_never()) {
      worker.timers().arm(timer_, deadline_.instant());
    }
    return true;
  }
  void cancel() {
    is_cancelled_ = true;
    awaitable_.cancel();
  }
  Outcome take() {
    timer_.disarm();
    if constexpr (is_result<Taken>) {
      Outcome outcome = awaitable_.take();
      if (has_passed_ && !is_cancelled_ && !outcome && outcome.error().code() == Errc::cancelled) {
        return failure(Errc::timed_out, outcome.error().doing());
      }
      return outcome;
    } else if constexpr (std::is_void_v<Taken>) {
      awaitable_.take();
      if (has_passed_) return timed_out();
      return {};
    } else {
      Taken taken = awaitable_.take();
      if (has_passed_) return timed_out();
      return taken;
    }
  }

 private:
  struct Passing : Timer {
    explicit Passing(Timeout& t)
        : Timer([](Timer& timer) { static_cast<Passing&>(timer).timeout.pass(); }), timeout(t) {}
    Timeout& timeout;
  };
  // A Task has to be told apart from the activity that waits: only it is to end.
  struct Inner : Waiter {
    explicit Inner(Waiter& o)
        : Waiter(o.worker(), [](Job& job) { static_cast<Inner&>(job).outer.wake(); }), outer(o) {}
    Waiter& outer;
  };
  static std::unexpected<Error> timed_out() {
    return failure(Errc::timed_out, std::string("wait for ") + waits_for);
  }

  bool start_awaitable(Waiter& waiter) {
    if constexpr (is_task<Object>) {
      return awaitable_.start_branch(inner_.emplace(waiter), deadline_);
    } else {
      return awaitable_.start(waiter);
    }
  }
  void pass() {
    if constexpr (is_task<Object>) {
      if (awaitable_.is_done()) return;
      has_passed_ = true;
      awaitable_.cancel(EndReason::timed_out);
    } else {
      has_passed_ = true;
      awaitable_.cancel();
    }
  }

  Deadline deadline_;
  std::optional<Duration> delay_;  // Counts from start().
  A awaitable_;
  Passing timer_{*this};
  std::optional<Inner> inner_;
  bool has_passed_ = false;
  bool is_cancelled_ = false;
};

template <class A>
  requires CancellableAwaitable<std::remove_reference_t<A>>
[[nodiscard]] Timeout<A> with_deadline(Deadline deadline, A&& awaitable) {
  return Timeout<A>(deadline, std::forward<A>(awaitable));
}
/// Counts from when it is waited for.
template <class A>
  requires CancellableAwaitable<std::remove_reference_t<A>>
[[nodiscard]] Timeout<A> timeout_after(Duration delay, A&& awaitable) {
  return Timeout<A>(delay, std::forward<A>(awaitable));
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::timeout_after;
using runtime::with_deadline;
}  // namespace sennit
