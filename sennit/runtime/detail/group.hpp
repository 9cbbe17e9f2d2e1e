#pragma once
// Group: waits for several awaitables at once, until enough of them have ended. What when_all,
// when_any and when_some (when.hpp) have in common.
//
// 1. Branches are begun in order, with ready() and start(), until enough have ended at once.
// 2. As soon as enough have ended, each that still runs is cancelled, once.
// 3. Our waiter is woken when none runs any more.
// Everything happens where the waiter is continued, so nothing here is shared.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime::detail {

/// The calls of an awaitable whose type has been forgotten.
struct BranchKind {
  bool (*ready)(void*);
  bool (*start)(void*, Waiter&);
  void (*cancel)(void*);  // Null if it cannot end early.
};
template <class A>
[[nodiscard]] constexpr BranchKind make_branch_kind() {
  BranchKind kind{[](void* a) -> bool { return static_cast<A*>(a)->ready(); },
                  [](void* a, Waiter& waiter) -> bool { return static_cast<A*>(a)->start(waiter); },
                  nullptr};
  if constexpr (CancellableAwaitable<A>) {
    kind.cancel = [](void* a) { static_cast<A*>(a)->cancel(); };
  }
  return kind;
}
template <class A>
inline constexpr BranchKind branch_kind = make_branch_kind<A>();

class Group;

class Branch {
 public:
  /// Before the group starts; the awaitable must stay where it is until that has ended.
  template <class A>
  void bind(A& awaitable) {
    awaitable_ = std::addressof(awaitable);
    kind_ = &branch_kind<A>;
  }
  /// Its result is to be taken.
  [[nodiscard]] bool has_ended() const { return state_ == State::ended; }

 private:
  friend class Group;
  enum class State : unsigned char { idle, running, ended };
  struct Wake : Waiter {
    Wake(Branch& b, Group& g, const Waiter& beside);
    Branch& branch;
    Group& group;
  };
  void* awaitable_ = nullptr;
  const BranchKind* kind_ = nullptr;
  State state_ = State::idle;
  std::optional<Wake> wake_;
};

class Group {
 public:
  /// False if nothing has to be waited for. Requires needed <= branches.size().
  bool start(Waiter& waiter, std::span<Branch> branches, std::size_t needed);
  void cancel();
  /// The index of the branch that ended first. Requires that one has.
  [[nodiscard]] std::size_t first() const { return first_; }

 private:
  friend class Branch;
  bool begin(Branch& branch);
  void note_end(Branch& branch);
  void cancel_running();
  void woken(Branch& branch);

  std::span<Branch> branches_;
  Waiter* waiter_ = nullptr;
  std::size_t needed_ = 0;
  std::size_t running_ = 0;
  std::size_t ended_ = 0;
  std::size_t first_ = 0;
  bool is_cancelled_ = false;
};

}  // namespace sennit::runtime::detail
