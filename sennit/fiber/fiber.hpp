#pragma once
// A stackful coroutine: a function that can stop in the middle and be continued.
//
//   a = fiber.start(run, argument)  --> run(argument) on the fiber's own stack
//   b = fiber.suspend(a)            <-- back to whoever started or resumed it
//   c = fiber.resume(b)             --> on from there
//   run returns                     <-- back, with null; is_finished()
//
// A finished fiber keeps its stack and can be started again, which costs one switch. It knows no
// scheduler. Routine (routine.hpp) is the same with types, and with exceptions that cross.
//
// A Fiber is the hot part alone, one cache line. Many of them belong side by side in one array or
// slab (a fiber never moves), where they are found four times faster than on the stacks' tops.
// Whoever knows which runs next but a few tells it to prefetch().
//
// Each side's exceptions being handled are its own: a fiber may wait inside a catch block.
//
// Thread safety: none; a fiber is resumed only on the thread that first started it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/fiber/context.hpp"
#include "sennit/fiber/detail/sanitizers.hpp"
#include "sennit/fiber/stack.hpp"

namespace sennit::fiber {

class alignas(64) Fiber {
 public:
  /// Must not throw: there is no caller to catch it, so an escaping exception terminates.
  using Function = void (*)(void* argument) noexcept;

  /// Bytes at the top of the stack that are kept for whoever owns the fiber (see storage()).
  static constexpr std::size_t storage_bytes = StackTop::storage_bytes;

  /// Does not touch the stack.
  explicit Fiber(Stack stack);
  ~Fiber();  // Requires is_finished(): a suspended stack holds objects that must be destroyed.
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs `run` until it first suspends or returns; returns what suspend() was given, or null.
  /// Requires is_finished().
  void* start(Function run, void* argument);
  /// Continues after suspend(), which returns `value`; returns what the next suspend() is given,
  /// or null when the function has returned. Requires that it is suspended.
  void* resume(void* value = nullptr);
  /// Gives control and `value` back. Must be called on this fiber; returns when resumed.
  void* suspend(void* value = nullptr);

  /// True before the first start and after each return of its function.
  [[nodiscard]] bool is_finished() const { return state_ == State::finished; }
  [[nodiscard]] bool is_suspended() const { return state_ == State::suspended; }

  /// Begins to load what a switch to it will need, except the fiber itself.
  void prefetch() const { __builtin_prefetch(context_.sp, 1); }

  /// Keeps the fiber's floating-point control words (rounding, masks) apart from everybody else's
  /// from its next start on, beginning with those of this moment. Otherwise they are shared, as
  /// saving them at each switch costs more than the switch. Requires is_finished().
  void keep_float_control();

  /// Aligned memory at the top of the fiber's own stack, for the arguments of what runs on it.
  [[nodiscard]] std::span<std::byte, storage_bytes> storage() const {
    return std::span<std::byte, storage_bytes>(stack_.top()->storage);
  }
  /// What a report of a stack overflow calls it. Kept by reference: must live as long as the fiber,
  /// or until the next name.
  void set_name(std::string_view name);
  [[nodiscard]] std::string_view name() const;

  [[nodiscard]] const Stack& stack() const { return stack_; }
  /// Where it left off, for an unwinder. Requires that it is suspended.
  [[nodiscard]] const Context& context() const { return context_; }

 private:
  enum class State : std::uint8_t { finished, suspended, running };
  // Of the C++ runtime, one per thread: what is being handled, and how many are being thrown.
  struct ExceptionsInFlight {
    void* caught;
    unsigned uncaught;
    [[nodiscard]] bool any() const {
      return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) != 0;
    }
  };
  struct Start {
    Function run;
    void* argument;
  };

  static ExceptionsInFlight* exceptions_of_this_thread();
  static void enter(Context* context, void* value);
  void* switch_in(void* value);
  void* switch_in_with_care(void* value);
  void* suspend_with_care(void* value);
  void* bare_switch_in(void* value);
  void* bare_suspend(void* value);
  void save_float_control();

  Context context_;  // Of the fiber; while it runs, of its resumer. Comes first, see enter().
  ExceptionsInFlight* exceptions_ = nullptr;  // Of the thread that it runs on, once it has.
  Stack stack_;
  std::uint32_t float_control_ = 0;      // mxcsr or fpcr, only if kept.
  std::uint16_t float_control_x87_ = 0;  // The same.
  State state_ = State::finished;
  bool keeps_float_control_ : 1 = false;
  bool has_name_ : 1 = false;
  [[no_unique_address]] detail::SanitizerStack own_;
  [[no_unique_address]] detail::SanitizerStack outer_;
};

inline Fiber::Fiber(Stack stack)
    : context_(make_context(reinterpret_cast<std::byte*>(stack.top()), &Fiber::enter)),
      stack_(std::move(stack)) {
  detail::sanitizer_create(own_, stack_.memory().data(), stack_.memory().size());
}

inline Fiber::~Fiber() {
  SENNIT_ASSERT(is_finished());
  if (has_name_) set_name({});
  detail::sanitizer_destroy(own_);
}

[[gnu::always_inline]] inline void* Fiber::bare_switch_in(void* value) {
  detail::sanitizer_leave(outer_, own_);
  value = switch_context(context_, value);
  detail::sanitizer_enter(outer_, own_);
  return value;
}

[[gnu::always_inline]] inline void* Fiber::bare_suspend(void* value) {
  detail::sanitizer_leave(own_, outer_);
  value = switch_context(context_, value);
  detail::sanitizer_enter(own_, outer_);
  return value;
}

[[gnu::always_inline]] inline void* Fiber::switch_in(void* value) {
  state_ = State::running;
  if (keeps_float_control_ || exceptions_->any()) [[unlikely]]
    return switch_in_with_care(value);
  return bare_switch_in(value);
}

[[gnu::always_inline]] inline void* Fiber::start(Function run, void* argument) {
  SENNIT_ASSERT(is_finished());
  if (exceptions_ == nullptr) exceptions_ = exceptions_of_this_thread();
  Start start{run, argument};
  return switch_in(&start);
}

[[gnu::always_inline]] inline void* Fiber::resume(void* value) {
  SENNIT_ASSERT(is_suspended());
  return switch_in(value);
}

[[gnu::always_inline]] inline void* Fiber::suspend(void* value) {
  state_ = State::suspended;
  if (exceptions_->any()) [[unlikely]]
    return suspend_with_care(value);
  return bare_suspend(value);
}

}  // namespace sennit::fiber
