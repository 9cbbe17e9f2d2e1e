#pragma once
// What keeps a compiler from removing the code that is being measured.
//
// A compiler may drop a computation nobody looks at, and compute once what does not change. Neither
// function emits an instruction of its own; they only tell the compiler that somebody looks.
//
// Thread safety: any thread.

#include <type_traits>

namespace sennit::perftest {

/// Makes the compiler produce `value`, in a register or in memory.
template <class T>
inline void do_not_optimize(T&& value) {
  using Value = std::remove_reference_t<T>;
  if constexpr (std::is_trivially_copyable_v<Value> && sizeof(Value) <= sizeof(void*)) {
    asm volatile("" : : "r,m"(value) : "memory");
  } else {
    asm volatile("" : : "m"(value) : "memory");
  }
}

/// Makes the compiler write out what it holds in registers, and read again what it needs.
inline void clobber_memory() { asm volatile("" : : : "memory"); }

}  // namespace sennit::perftest
