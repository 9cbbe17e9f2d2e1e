#pragma once
// Replaces operator new and delete by ones that perftest can count (allocations.hpp). To be
// included by exactly one source file of a program; a second one does not link.
//
// Under AddressSanitizer and ThreadSanitizer it replaces nothing: they bring operators of their
// own, which find misuse. Allocations are not counted there.

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SENNIT_PERF_KEEPS_OPERATOR_NEW
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SENNIT_PERF_KEEPS_OPERATOR_NEW
#endif

#if !defined(SENNIT_PERF_KEEPS_OPERATOR_NEW)

#include <cstddef>
#include <cstdlib>
#include <new>

#include "sennit/perftest/allocations.hpp"

namespace sennit::perftest::detail {

[[maybe_unused]] static const bool counting_announced = announce_counting();

// There is no memory left, and no exception to be expected from a test program: stop.
inline void* allocate_or_stop(std::size_t bytes, std::size_t alignment) {
  void* const memory = counted_allocate(bytes, alignment);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace sennit::perftest::detail

// The array forms and the nothrow ones call these, as the standard says.
void* operator new(std::size_t bytes) {
  return sennit::perftest::detail::allocate_or_stop(bytes, 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return sennit::perftest::detail::allocate_or_stop(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { sennit::perftest::detail::counted_free(memory); }
void operator delete(void* memory, std::size_t) noexcept {
  sennit::perftest::detail::counted_free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  sennit::perftest::detail::counted_free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  sennit::perftest::detail::counted_free(memory);
}

#endif
