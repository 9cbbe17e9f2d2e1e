#pragma once
// Switching between stacks: the one thing that C++ cannot say.
//
// A suspended context is four words: where it goes on, and the registers that a compiler does not
// let a piece of assembly declare as overwritten (stack, frame and base pointer). Every other
// register is declared so, and the compiler saves what is alive, and no more, on the context's own
// stack. The same four words hold the resumer while the context runs: a switch swaps them.
//
//   context  suspended        switch_context()        running
//   pc, sp, fp, base  =  of the context   -->   of whoever switched to it
//
// The switch is inlined and ends in an indirect jump: the processor predicts a return from the
// stack of calls it has seen, which is always wrong here and costs some 16 ns. Floating-point
// control words, exceptions in flight and sanitizers are the caller's business (see fiber.cpp).
//
// Written for x86-64 (System V ABI) and aarch64 (AAPCS64). An unwinder can start from pc, sp, fp.

#include <cstddef>
#include <cstdint>

#include "sennit/base/assert.hpp"

namespace sennit::fiber {

namespace detail {
extern "C" void sennit_context_start();  // Assembly; finds the entry function in `base`.
}

struct Context {
  void* pc = nullptr;
  void* sp = nullptr;
  void* fp = nullptr;    // rbp, x29.
  void* base = nullptr;  // rbx, x19: compilers address unusual frames by it.
};

/// Runs on the new stack, with the context that it was started through and the value of the first
/// switch. Must never return.
using Entry = void (*)(Context* context, void* value);

/// A context that will run `entry` with its frames below `top`, a multiple of 16. Does not touch
/// the stack; nothing runs until it is switched to.
[[nodiscard]] inline Context make_context(std::byte* top, Entry entry) {
  SENNIT_ASSERT(reinterpret_cast<std::uintptr_t>(top) % 16 == 0, top);
  return {.pc = reinterpret_cast<void*>(&detail::sennit_context_start),
          .sp = top,
          .fp = nullptr,
          .base = reinterpret_cast<void*>(entry)};
}

/// Saves where the caller is, goes on where `context` says, and hands over `value`; returns the
/// value of the switch that comes back through the same context.
[[gnu::always_inline]] inline void* switch_context(Context& context, void* value) {
#if defined(__x86_64__)
  asm volatile(
      "movq 0(%%rdi), %%rax\n\t"
      "movq 8(%%rdi), %%rcx\n\t"
      "movq 16(%%rdi), %%rdx\n\t"
      "movq 24(%%rdi), %%r8\n\t"
      "leaq 1f(%%rip), %%r9\n\t"
      "movq %%r9, 0(%%rdi)\n\t"
      "movq %%rsp, 8(%%rdi)\n\t"
      "movq %%rbp, 16(%%rdi)\n\t"
      "movq %%rbx, 24(%%rdi)\n\t"
      "movq %%rcx, %%rsp\n\t"
      "movq %%rdx, %%rbp\n\t"
      "movq %%r8, %%rbx\n\t"
      "jmp *%%rax\n"
      "1:\n\t"
      "endbr64"
      : "+S"(value)
      : "D"(&context)
      : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
        "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15",
#ifdef __AVX512F__
        "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
        "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6",
        "k7",
#endif
        "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "cc", "memory");
  return value;
#elif defined(__aarch64__)
  register Context* in asm("x0") = &context;
  register void* passed asm("x1") = value;
  asm volatile(
      "ldp x2, x3, [x0]\n\t"
      "ldp x4, x5, [x0, #16]\n\t"
      "adr x6, 1f\n\t"
      "mov x7, sp\n\t"
      "stp x6, x7, [x0]\n\t"
      "stp x29, x19, [x0, #16]\n\t"
      "mov sp, x3\n\t"
      "mov x29, x4\n\t"
      "mov x19, x5\n\t"
      "br x2\n"
      "1:\n\t"
      "hint #36"  // bti j
      : "+r"(passed)
      : "r"(in)
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0",
        "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",
        "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
        "v28", "v29", "v30", "v31", "cc", "memory");
  return passed;
#else
#error "context switches are written for x86-64 and aarch64 only"
#endif
}

}  // namespace sennit::fiber
