#include "sennit/fiber/detail/pages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sennit/base/assert.hpp"

namespace sennit::fiber::detail {
namespace {

// Newer than the headers we build on.
constexpr int madv_populate_write = 23;
constexpr int madv_guard_install = 102;
constexpr long sys_pidfd_open = 434;
constexpr long sys_process_madvise = 440;

constexpr std::size_t batch_max = 256;  // Of the 1,024 that one call takes: 4 KiB on the stack.

// The mincore() below has the kernel write into a guarded page, which fails if the guard is real.
bool try_light_guard() {
  const std::size_t page = page_bytes();
  void* const low =
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (low == MAP_FAILED) return false;
  auto* const guarded = static_cast<unsigned char*>(low) + page;
  const bool works = ::madvise(guarded, page, madv_guard_install) == 0 &&
                     ::mincore(low, page, guarded) != 0 && errno == EFAULT;
  ::munmap(low, 2 * page);
  return works;
}

// One call for up to batch_max ranges. False if the kernel does not do that: before 6.13 a process
// could not advise itself about most things. The descriptor is made anew each time, because after a
// fork the old one would stand for the parent.
bool advise_batch(std::span<std::byte* const> begins, std::size_t bytes, int advice) {
  std::array<::iovec, batch_max> vector;  // NOLINT: filled below as far as it is used.
  for (std::size_t i = 0; i < begins.size(); ++i) vector[i] = {begins[i], bytes};
  const auto self = static_cast<int>(::syscall(sys_pidfd_open, ::getpid(), 0));
  if (self < 0) return false;
  const long advised =
      ::syscall(sys_process_madvise, self, vector.data(), begins.size(), advice, 0);
  ::close(self);
  return advised == static_cast<long>(begins.size() * bytes);
}

bool advise(Ranges ranges, int advice) {
  for (auto rest = ranges.begins; !rest.empty();) {
    const auto batch = rest.first(std::min(rest.size(), batch_max));
    if (batch.size() == 1 || !advise_batch(batch, ranges.bytes, advice)) {
      for (std::byte* const begin : batch) {
        if (::madvise(begin, ranges.bytes, advice) != 0) return false;
      }
    }
    rest = rest.subspan(batch.size());
  }
  return true;
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t whole_pages(std::size_t bytes) {
  const std::size_t page = page_bytes();
  SENNIT_ASSERT(bytes <= SIZE_MAX - page, bytes);
  return (bytes + page - 1) / page * page;
}

bool has_light_guards() {
  static const bool has = try_light_guard();
  return has;
}

Result<void> guard(Ranges ranges) {
  if (has_light_guards() && advise(ranges, madv_guard_install)) return {};
  for (std::byte* const begin : ranges.begins) {
    if (::mprotect(begin, ranges.bytes, PROT_NONE) != 0) {
      return os_failure(errno, "guard a fiber stack");
    }
  }
  return {};
}

void populate(Ranges ranges) { advise(ranges, madv_populate_write); }

void discard(Ranges ranges) { advise(ranges, MADV_DONTNEED); }

}  // namespace sennit::fiber::detail
