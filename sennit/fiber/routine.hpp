#pragma once
// Routine: a fiber with types. Values go in with resume() and out with yield(), the function's
// result comes out last, and what it throws comes out of the resume() that it happened in.
//
//   Routine<int, std::string> lengths(*pool.acquire(), [](auto& self, std::string word) {
//     while (word != "") word = self.yield(static_cast<int>(word.size()));
//     return -1;
//   });
//   lengths.resume("one");   // 3
//   lengths.resume("");      // -1; lengths.is_finished()
//
// Values are moved from one stack to the other; nothing is allocated. The function object lives on
// the fiber's stack if it fits into Fiber::storage_bytes, which it must.
//
// Thread safety: none; as Fiber. It must not be destroyed while suspended (asserted): resume it to
// its end first, as only its function can unwind its stack.

#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "sennit/fiber/fiber.hpp"

namespace sennit::fiber {

/// `Out` comes out of resume(), `In` goes into it. Both are movable object types.
template <std::movable Out, std::movable In>
class Routine {
 public:
  /// `function(Routine&, In first) -> Out` runs from the first resume() on.
  template <class F>
    requires std::is_invocable_r_v<Out, F&, Routine&, In>
  Routine(Stack stack, F function) : fiber_(std::move(stack)), function_end_(&end_function<F>) {
    static_assert(sizeof(F) <= Fiber::storage_bytes && alignof(F) <= alignof(StackTop));
    std::construct_at(reinterpret_cast<F*>(fiber_.storage().data()), std::move(function));
    run_ = &run<F>;
  }
  ~Routine() { function_end_(fiber_); }
  Routine(const Routine&) = delete;
  Routine& operator=(const Routine&) = delete;

  /// Hands `value` in and runs on until the next yield() or the end of the function; returns what
  /// came out, or passes on what was thrown. Requires that it is not finished.
  Out resume(In value) {
    SENNIT_ASSERT(!is_finished());
    in_ = &value;
    if (is_started_) {
      fiber_.resume();
    } else {
      is_started_ = true;
      fiber_.start(run_, this);
    }
    if (thrown_ != nullptr) std::rethrow_exception(std::exchange(thrown_, nullptr));
    Out out = std::move(*out_);
    out_.reset();
    return out;
  }

  /// On the routine itself: hands `value` out and waits for the next one.
  In yield(Out value) {
    out_.emplace(std::move(value));
    fiber_.suspend();
    return std::move(*in_);
  }

  /// Its function has returned, or has thrown.
  [[nodiscard]] bool is_finished() const { return is_started_ && fiber_.is_finished(); }
  [[nodiscard]] Fiber& fiber() { return fiber_; }

 private:
  template <class F>
  static void run(void* argument) noexcept {
    auto& self = *static_cast<Routine*>(argument);
    auto& function = *reinterpret_cast<F*>(self.fiber_.storage().data());
    try {
      self.out_.emplace(function(self, std::move(*self.in_)));
    } catch (...) {
      self.thrown_ = std::current_exception();
    }
  }
  template <class F>
  static void end_function(Fiber& fiber) {
    std::destroy_at(reinterpret_cast<F*>(fiber.storage().data()));
  }

  Fiber fiber_;
  Fiber::Function run_;
  void (*function_end_)(Fiber& fiber);
  bool is_started_ = false;
  In* in_ = nullptr;        // On the stack of whoever resumes.
  std::optional<Out> out_;  // On its way out.
  std::exception_ptr thrown_;
};

}  // namespace sennit::fiber
