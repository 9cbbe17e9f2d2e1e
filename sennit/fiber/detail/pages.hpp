#pragma once
// What stacks ask of the kernel, many at a time where it allows that.
//
// Thread safety: any thread.

#include <cstddef>
#include <span>

#include "sennit/base/result.hpp"

namespace sennit::fiber::detail {

[[nodiscard]] std::size_t page_bytes();
/// The smallest multiple of the page size that holds `bytes`. Requires that it can be represented.
[[nodiscard]] std::size_t whole_pages(std::size_t bytes);

/// Ranges of `bytes` each that begin at these addresses, all multiples of the page size.
struct Ranges {
  std::span<std::byte* const> begins;
  std::size_t bytes;
};

/// Whether guards are light here (MADV_GUARD_INSTALL, Linux 6.13): they do not split a mapping.
/// Tried out once; an emulator that only claims to have them has not.
[[nodiscard]] bool has_light_guards();

/// Makes every access to these ranges fault. Errors: out_of_memory when the process has no mapping
/// left (only where guards are not light); some ranges may be guarded then.
[[nodiscard]] Result<void> guard(Ranges ranges);

/// Gives these ranges their pages now, which saves a fault each. Only an attempt: what does not
/// succeed happens when they are touched.
void populate(Ranges ranges);

/// Gives the pages back to the kernel; the ranges are zero when next touched.
void discard(Ranges ranges);

}  // namespace sennit::fiber::detail
