#include "sennit/fiber/fiber.hpp"

#include <cstdint>
#include <cstring>
#include <cxxabi.h>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/fiber/context.hpp"

namespace sennit::fiber {
namespace {

// Which exceptions are being handled is a per-thread list in the C++ runtime. A fiber that waits
// inside a catch block must take its part along, or the next one would end another's handler.
struct ExceptionGlobals {
  void* words[2];
};
static_assert(sizeof(ExceptionGlobals) == 2 * sizeof(void*));  // Itanium C++ ABI, 2.2.2.

void swap_exceptions(void* (&saved)[2]) {
  auto* live = reinterpret_cast<ExceptionGlobals*>(abi::__cxa_get_globals());
  std::swap(live->words[0], saved[0]);
  std::swap(live->words[1], saved[1]);
}

std::span<std::byte, Fiber::storage_bytes> top_of(std::span<std::byte> memory) {
  return memory.last<Fiber::storage_bytes>();
}

}  // namespace

Fiber::Fiber(Stack stack) : storage_(top_of(stack.memory())), stack_(std::move(stack)) {
  const std::span<std::byte> memory = stack_.memory();
  context_ = make_context(memory.first(memory.size() - storage_bytes), &Fiber::enter);
  detail::sanitizer_create(own_, memory.data(), memory.size());
}

Fiber::~Fiber() {
  SENNIT_ASSERT(is_finished());
  detail::sanitizer_destroy(own_);
}

void Fiber::enter(void* self) {
  auto& fiber = *static_cast<Fiber*>(self);
  detail::sanitizer_enter(fiber.own_, fiber.outer_);
  for (;;) {
    fiber.run_(fiber.argument_);
    fiber.run_ = nullptr;
    fiber.suspend();
  }
}

void Fiber::start(Function run, void* argument) {
  SENNIT_ASSERT(is_finished());
  run_ = run;
  argument_ = argument;
  switch_in();
}

void Fiber::resume() {
  SENNIT_ASSERT(!is_finished());
  switch_in();
}

void Fiber::switch_in() {
  swap_exceptions(exceptions_);
  detail::sanitizer_leave(outer_, own_);
  sennit_switch_context(&resumer_, context_, this);
  detail::sanitizer_enter(outer_, own_);
  swap_exceptions(exceptions_);
}

void Fiber::suspend() {
  detail::sanitizer_leave(own_, outer_);
  sennit_switch_context(&context_, resumer_, nullptr);
  detail::sanitizer_enter(own_, outer_);
}

}  // namespace sennit::fiber
