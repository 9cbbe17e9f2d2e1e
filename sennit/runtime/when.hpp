#pragma once
// Waiting for several things at once, with `wait(...)` or `co_await ...`:
//
//   when_all(a, b, ...)       each has ended             -> std::tuple of the results
//   when_any(a, b, ...)       one has ended              -> AnyOf: which, and the results
//   select(a, b, ...)         the same
//   when_some(n, a, b, ...)   n have ended               -> std::tuple of std::optional results
//   when_all(list), when_any(list), when_some(n, list)   -> std::vector instead of std::tuple
//
//   auto [first, results] = wait(when_any(channel.receive(), sleep_for(1s)));
//
// The things may be of any kinds: tasks, sleeps, operations on channels, locks, each other. What is
// passed as a temporary is moved in, what has a name is referred to and must outlive the wait; so
// with a list and its elements. `void` results are std::monostate.
//
// Rules:
// 1. They are begun in order. If enough end at once, those behind are not begun: nothing has
//    happened to them, and their results are empty.
// 2. When enough have ended the others are cancelled, as far as they can be, and waited for: when
//    it returns, nothing runs on. What was begun has a result: `cancelled`, or what it completed
//    with in that moment. So a message that a loser has received, or a lock that it has got, is in
//    its result and not lost; more than `n` may have succeeded.
// 3. Cancelling the whole cancels each; each says so in its own result.
// 4. An exception of one is thrown after all have ended, the first one's in order; the results of
//    the others are dropped.
//
// No allocation for packs; a list takes one for the waiting and one for the results.
// Thread safety: as a whole, none; the things may be shared as far as each allows.

#include <array>
#include <exception>
#include <iterator>
#include <optional>
#include <ranges>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/detail/group.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

/// Which ended first, and what each has given; empty if it was not begun.
template <class Results>
struct AnyOf {
  std::size_t index;
  Results results;
};

namespace detail {

template <class A>
using Taken = std::remove_cvref_t<decltype(std::declval<std::remove_reference_t<A>&>().take())>;
/// What waiting for A gives, as something that can be kept.
template <class A>
using Outcome = std::conditional_t<std::is_void_v<Taken<A>>, std::monostate, Taken<A>>;

template <class A>
void take_outcome(const Branch& branch, A& awaitable, std::optional<Outcome<A>>& outcome,
                  std::exception_ptr& exception) {
  if (!branch.has_ended()) return;
  try {
    if constexpr (std::is_void_v<Taken<A>>) {
      awaitable.take();
      outcome.emplace();
    } else {
      outcome.emplace(awaitable.take());
    }
  } catch (...) {
    if (!exception) exception = std::current_exception();
  }
}

/// The awaitables of a pack. A is a type for what was moved in, a reference for what has a name.
template <class... A>
class Pack {
 public:
  static constexpr std::size_t count = sizeof...(A);
  using Outcomes = std::tuple<std::optional<Outcome<A>>...>;
  using AllOutcomes = std::tuple<Outcome<A>...>;

  explicit Pack(A&&... awaitables) : awaitables_(std::forward<A>(awaitables)...) {}
  Pack(Pack&& other) noexcept : awaitables_(std::move(other.awaitables_)) {}
  [[nodiscard]] std::size_t size() const { return count; }
  std::span<Branch> bind() {
    bind(std::index_sequence_for<A...>());
    return branches_;
  }
  Outcomes take() {
    Outcomes outcomes;
    std::exception_ptr exception;
    take(std::index_sequence_for<A...>(), outcomes, exception);
    if (exception) std::rethrow_exception(exception);
    return outcomes;
  }
  AllOutcomes take_all() {
    return std::apply([](auto&&... each) { return AllOutcomes(*std::move(each)...); }, take());
  }

 private:
  template <std::size_t... I>
  void bind(std::index_sequence<I...>) {
    (branches_[I].bind(std::get<I>(awaitables_)), ...);
  }
  template <std::size_t... I>
  void take(std::index_sequence<I...>, Outcomes& outcomes, std::exception_ptr& exception) {
    (take_outcome(branches_[I], std::get<I>(awaitables_), std::get<I>(outcomes), exception), ...);
  }

  std::tuple<A...> awaitables_;
  std::array<Branch, count> branches_;
};

/// The awaitables of a list: one that was moved in, or a reference.
template <class R>
class List {
  using A = std::ranges::range_value_t<R>;

 public:
  using Outcomes = std::vector<std::optional<Outcome<A>>>;
  using AllOutcomes = std::vector<Outcome<A>>;

  explicit List(R&& list)
      : list_(std::forward<R>(list)),
        branches_(static_cast<std::size_t>(std::ranges::distance(list_))) {}
  List(List&& other) noexcept
      : list_(std::forward<R>(other.list_)), branches_(std::move(other.branches_)) {}
  [[nodiscard]] std::size_t size() const { return branches_.size(); }
  std::span<Branch> bind() {
    auto branch = branches_.begin();
    for (A& awaitable : list_) (branch++)->bind(awaitable);
    return branches_;
  }
  Outcomes take() {
    Outcomes outcomes(branches_.size());
    std::exception_ptr exception;
    std::size_t i = 0;
    for (A& awaitable : list_) {
      take_outcome(branches_[i], awaitable, outcomes[i], exception);
      ++i;
    }
    if (exception) std::rethrow_exception(exception);
    return outcomes;
  }
  AllOutcomes take_all() {
    AllOutcomes all;
    all.reserve(branches_.size());
    for (auto& outcome : take()) all.push_back(*std::move(outcome));
    return all;
  }

 private:
  R list_;
  std::vector<Branch> branches_;
};

enum class Want : unsigned char { all, any, some };

/// Awaitable; see the top.
template <Want want, class Members>
class When {
 public:
  static constexpr const char* waits_for = "several things";

  When(std::size_t needed, Members&& members) : needed_(needed), members_(std::move(members)) {
    SENNIT_ASSERT(needed <= members_.size() && "more are waited for than there are", needed,
                  members_.size());
  }
  /// Before it is started.
  When(When&& other) noexcept : needed_(other.needed_), members_(std::move(other.members_)) {}

  bool ready() { return false; }
  bool start(Waiter& waiter) { return group_.start(waiter, members_.bind(), needed_); }
  void cancel() { group_.cancel(); }
  auto take() {
    if constexpr (want == Want::all) {
      return members_.take_all();
    } else if constexpr (want == Want::any) {
      return AnyOf<typename Members::Outcomes>{group_.first(), members_.take()};
    } else {
      return members_.take();
    }
  }

 private:
  std::size_t needed_;
  Members members_;
  Group group_;
};

template <class T>
concept SomeAwaitable = Awaitable<std::remove_reference_t<T>>;
template <class R>
concept AwaitableList = std::ranges::forward_range<R> && Awaitable<std::ranges::range_value_t<R>>;

}  // namespace detail

template <detail::SomeAwaitable... A>
  requires(sizeof...(A) > 0)
[[nodiscard]] auto when_all(A&&... awaitables) {
  return detail::When<detail::Want::all, detail::Pack<A...>>(
      sizeof...(A), detail::Pack<A...>(std::forward<A>(awaitables)...));
}
template <detail::AwaitableList R>
[[nodiscard]] auto when_all(R&& list) {
  detail::List<R> members(std::forward<R>(list));
  const std::size_t count = members.size();
  return detail::When<detail::Want::all, detail::List<R>>(count, std::move(members));
}

template <detail::SomeAwaitable... A>
  requires(sizeof...(A) > 0)
[[nodiscard]] auto when_any(A&&... awaitables) {
  return detail::When<detail::Want::any, detail::Pack<A...>>(
      1, detail::Pack<A...>(std::forward<A>(awaitables)...));
}
/// Requires that the list is not empty.
template <detail::AwaitableList R>
[[nodiscard]] auto when_any(R&& list) {
  return detail::When<detail::Want::any, detail::List<R>>(1,
                                                          detail::List<R>(std::forward<R>(list)));
}
template <detail::SomeAwaitable... A>
  requires(sizeof...(A) > 0)
[[nodiscard]] auto select(A&&... awaitables) {
  return when_any(std::forward<A>(awaitables)...);
}

/// Requires that there are `count` or more.
template <detail::SomeAwaitable... A>
  requires(sizeof...(A) > 0)
[[nodiscard]] auto when_some(std::size_t count, A&&... awaitables) {
  return detail::When<detail::Want::some, detail::Pack<A...>>(
      count, detail::Pack<A...>(std::forward<A>(awaitables)...));
}
template <detail::AwaitableList R>
[[nodiscard]] auto when_some(std::size_t count, R&& list) {
  return detail::When<detail::Want::some, detail::List<R>>(count,
                                                           detail::List<R>(std::forward<R>(list)));
}

}  // namespace sennit::runtime

namespace sennit {
using runtime::AnyOf;
using runtime::select;
using runtime::when_all;
using runtime::when_any;
using runtime::when_some;
}  // namespace sennit
