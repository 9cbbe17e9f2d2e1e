#include "sennit/fiber/fiber.hpp"

#include <cstddef>
#include <cxxabi.h>

namespace sennit::fiber {

namespace {

// The words that say how floating-point numbers are rounded and which of its exceptions trap.
struct FloatControl {
  std::uint32_t word = 0;  // mxcsr, fpcr.
  std::uint16_t x87 = 0;
  static FloatControl current();
  void load() const;
};

FloatControl FloatControl::current() {
  FloatControl control;
#if defined(__x86_64__)
  asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(control.word), "=m"(control.x87));
#else
  std::uint64_t word = 0;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  control.word = static_cast<std::uint32_t>(word);
#endif
  return control;
}

void FloatControl::load() const {
#if defined(__x86_64__)
  asm volatile("ldmxcsr %0\n\tfldcw %1" ::"m"(word), "m"(x87));
#else
  asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{word}));
#endif
}

}  // namespace

// Clang gives the second of two empty members an address of its own behind all others.
#ifndef __clang__
static_assert(sizeof(detail::SanitizerStack) > 1 || sizeof(Fiber) == 64, "one cache line");
#endif

// Which exceptions are being handled is a per-thread list in the C++ runtime. A fiber that waits
// inside a catch block must take its part along, or the next one would end another's handler. So
// nothing is in flight at any switch: each side puts its own aside before and takes it back after.
Fiber::ExceptionsInFlight* Fiber::exceptions_of_this_thread() {  // Itanium C++ ABI, 2.2.2.
  return reinterpret_cast<ExceptionsInFlight*>(abi::__cxa_get_globals());
}

[[gnu::noinline]] void* Fiber::switch_in_with_care(void* value) {
  const ExceptionsInFlight resumers = std::exchange(*exceptions_, {});
  const FloatControl resumers_control = FloatControl::current();
  if (keeps_float_control_) FloatControl{float_control_, float_control_x87_}.load();
  value = bare_switch_in(value);
  if (keeps_float_control_) {
    save_float_control();
    resumers_control.load();
  }
  *exceptions_ = resumers;
  return value;
}

[[gnu::noinline]] void* Fiber::suspend_with_care(void* value) {
  const ExceptionsInFlight own = std::exchange(*exceptions_, {});
  value = bare_suspend(value);
  *exceptions_ = own;
  return value;
}

// It never returns, so what sanitizers note when a function begins would be left behind.
SENNIT_NOT_INSTRUMENTED void Fiber::enter(Context* context, void* value) {
  static_assert(offsetof(Fiber, context_) == 0);
  auto& fiber = *reinterpret_cast<Fiber*>(context);
  detail::sanitizer_enter(fiber.own_, fiber.outer_);
  for (;;) {
    const Start start = *static_cast<const Start*>(value);  // On the stack of whoever starts it.
    start.run(start.argument);
    fiber.state_ = State::finished;
    detail::sanitizer_finish(fiber.own_, fiber.outer_);
    value = switch_context(fiber.context_, nullptr);
    detail::sanitizer_enter(fiber.own_, fiber.outer_);
  }
}

void Fiber::keep_float_control() {
  SENNIT_ASSERT(is_finished());
  keeps_float_control_ = true;
  save_float_control();
}

void Fiber::save_float_control() {
  const FloatControl control = FloatControl::current();
  float_control_ = control.word;
  float_control_x87_ = control.x87;
}

void Fiber::set_name(std::string_view name) {
  StackTop* const top = stack_.top();
  has_name_ = !name.empty();
  top->mark = has_name_ ? StackTop::has_name : 0;
  top->name = name;
}

std::string_view Fiber::name() const { return has_name_ ? stack_.top()->name : ""; }

}  // namespace sennit::fiber
