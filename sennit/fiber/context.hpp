#pragma once
// Switching between stacks: the one thing that C++ cannot say.
//
// A suspended context is nothing but its stack pointer; what the ABI says a called function keeps
// is pushed on its own stack. Floating-point control words are not saved: a context shares them
// with the thread it runs on. Exceptions in flight are the caller's business (see fiber.cpp).
//
// The switch ends in an indirect jump, not a return: the processor predicts a return from the
// stack of calls it has seen, which is always wrong here and costs some 16 ns.

#include <cstddef>
#include <span>

namespace sennit::fiber {

/// Runs on the new stack with the value of the first switch to it. Must never return.
using Entry = void (*)(void* value);

/// Lays out a context at the high end of `stack`. Nothing runs until it is switched to.
/// Requires at least 256 bytes; what lies above the returned pointer must stay untouched.
[[nodiscard]] void* make_context(std::span<std::byte> stack, Entry entry);

/// Saves the running context in `*save`, continues `target`, and hands it `value`; returns the
/// value of the switch that comes back.
extern "C" void* sennit_switch_context(void** save, void* target, void* value);

}  // namespace sennit::fiber
