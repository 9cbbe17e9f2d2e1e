#pragma once
// Waiters and awaitables for tests of what can be waited for, deterministic and without a worker.

#include <utility>

#include "sennit/runtime/detail/parking.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime::testing {

/// Counts how often it was woken.
class CountingWaiter : private detail::Parking, public Waiter {
 public:
  CountingWaiter()
      : Waiter(static_cast<detail::Parking&>(*this),
               [](Job& job) { ++static_cast<CountingWaiter&>(job).wakes_; }) {}
  [[nodiscard]] int wakes() {
    // Once for what is posted now, and again for what that posts, a few levels deep.
    for (int level = 0; level < 4; ++level) {
      struct Last : Job {
        Last() : Job([](Job& job) { static_cast<Last&>(job).ran = true; }) {}
        bool ran = false;
      } last;
      post(last);
      run_until(last.ran);
    }
    return wakes_;
  }

 private:
  int wakes_ = 0;
};

/// An awaitable that was started, and its waiter.
template <class A>
struct Started {
  explicit Started(A&& a) : awaitable(std::move(a)) {
    waits = !awaitable.ready() && awaitable.start(waiter);
  }
  [[nodiscard]] int wakes() { return waiter.wakes(); }
  auto take() { return awaitable.take(); }
  void cancel() { awaitable.cancel(); }
  A awaitable;
  CountingWaiter waiter;
  bool waits = false;
};

/// Waits for `inner`, and cancels it soon after it has begun to wait.
template <class A>
class CancelSoon {
 public:
  CancelSoon(A&& inner, unsigned spins) : inner_(std::move(inner)), spins_(spins) {}
  bool ready() { return inner_.ready(); }
  bool start(Waiter& waiter) {
    if (!inner_.start(waiter)) return false;
    for (unsigned i = 0; i < spins_; ++i) asm volatile("");
    inner_.cancel();
    return true;
  }
  auto take() { return inner_.take(); }
  A& inner() { return inner_; }

 private:
  A inner_;
  unsigned spins_;
};

}  // namespace sennit::runtime::testing
