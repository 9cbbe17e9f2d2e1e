#pragma once
// A file that is cut off while it is mapped makes the next access a SIGBUS. The guard turns that
// into an error: its handler maps a page of zeros where the access failed and raises a flag that
// belongs to the mapping; the access goes on, and the container finds the flag.
//
// The handler is installed with the first range and hands on every SIGBUS outside its ranges to
// whoever had the signal before.
//
// Thread safety: any thread.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sennit/base/result.hpp"

namespace sennit::shm::detail {

inline constexpr std::size_t guarded_range_max = 4096;

/// Errors: limit_reached beyond guarded_range_max mappings. The flag stays valid until unguard().
Result<const std::atomic<bool>*> guard(void* begin, std::size_t bytes, std::size_t page_bytes);
void unguard(const void* begin);

}  // namespace sennit::shm::detail
