#pragma once
// Allocations per call: how often the code under test asks operator new, and for how much.
//
// Counting replaces the program's operator new, so it is asked for: one source file of a program of
// performance tests includes "sennit/perftest/count_allocations.hpp". It counts only while a pass
// made for it runs; the passes that measure time pay one load of a flag per allocation.
//
// Thread safety: every function from any thread; what other threads allocate meanwhile is counted
// too.

#include <cstddef>
#include <cstdint>

namespace sennit::perftest {

struct Allocations {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

/// Whether this program's operator new is the counting one.
[[nodiscard]] bool allocations_are_counted();

/// Counts from here on, from zero.
void start_counting_allocations();
[[nodiscard]] Allocations stop_counting_allocations();

namespace detail {
/// For count_allocations.hpp: memory as operator new gives it, or null.
void* counted_allocate(std::size_t bytes, std::size_t alignment) noexcept;
void counted_free(void* memory) noexcept;
bool announce_counting();
}  // namespace detail

}  // namespace sennit::perftest
