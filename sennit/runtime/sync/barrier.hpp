#pragma once
// Barrier: a fixed number of parties wait for each other, round after round.
//
//   Barrier barrier(3, [] { ... });        // the function runs once a round, by the last to arrive
//   wait(barrier.arrive_and_wait());
//
// Thread safety: all of it. Destroying it with somebody waiting, and dropping more parties than
// there are, stop the program.

#include <cstdint>
#include <functional>

#include "sennit/base/result.hpp"
#include "sennit/runtime/sync/detail/lock_word.hpp"
#include "sennit/runtime/sync/detail/wait_list.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

class Barrier {
 public:
  /// `completed` runs when all have arrived, before any of them goes on and with what each of them
  /// wrote before it came visible; on the thread of the last, where it must not wait. Requires
  /// parties > 0.
  explicit Barrier(std::uint64_t parties, std::function<void()> completed = nullptr);
  ~Barrier();
  Barrier(const Barrier&) = delete;
  Barrier& operator=(const Barrier&) = delete;

  /// Awaitable: Result<void>. Suspends until all parties of this round have arrived. Errors:
  /// cancelled: it counts as if it had never arrived, and the round still lacks one.
  class Arrive {
   public:
    static constexpr const char* waits_for = "the others at a barrier";

    explicit Arrive(Barrier& barrier) : barrier_(&barrier) {}
    bool ready() { return false; }
    bool start(Waiter& waiter) { return barrier_->arrive(node_, waiter); }
    Result<void> take() { return detail::outcome(node_, "wait at a barrier"); }
    void cancel() { barrier_->cancel(node_); }

   private:
    Barrier* barrier_;
    detail::WaitNode node_;
  };
  [[nodiscard]] Arrive arrive_and_wait() { return Arrive(*this); }
  /// Leaves for good: this round and all later ones have one party less.
  void arrive_and_drop();

 private:
  bool arrive(detail::WaitNode& node, Waiter& waiter);
  void cancel(detail::WaitNode& node);
  void complete_round();

  const std::function<void()> completed_;
  detail::LockWord word_;  // Guards what follows.
  std::uint64_t parties_;
  std::uint64_t arrived_ = 0;
  detail::WaitList queue_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Barrier;
}
