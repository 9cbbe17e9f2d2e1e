#include "sennit/fiber/stack_pool.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

#include "sennit/base/assert.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

namespace sennit::fiber {
namespace {

constexpr int madv_guard_install = 102;  // MADV_GUARD_INSTALL; newer than the headers we build on.

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

StackPool::Options rounded(StackPool::Options options) {
  const std::size_t page = page_bytes();
  options.usable_bytes = (options.usable_bytes + page - 1) / page * page;
  return options;
}

Result<std::span<std::byte>> map_guarded(std::size_t usable_bytes) {
  const std::size_t page = page_bytes();
  const std::size_t mapped_bytes = usable_bytes + page;
  void* low = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (low == MAP_FAILED) return os_failure(errno, "map a fiber stack");
  if (::madvise(low, page, madv_guard_install) != 0 && ::mprotect(low, page, PROT_NONE) != 0) {
    const int os_error = errno;
    ::munmap(low, mapped_bytes);
    return os_failure(os_error, "guard a fiber stack");
  }
  auto* usable = static_cast<std::byte*>(low) + page;
#ifdef VALGRIND_STACK_REGISTER
  VALGRIND_STACK_REGISTER(usable, usable + usable_bytes);
#endif
  return std::span(usable, usable_bytes);
}

void unmap(std::span<std::byte> usable) {
  ::munmap(usable.data() - page_bytes(), usable.size() + page_bytes());
}

}  // namespace

Stack::~Stack() {
  if (pool_ != nullptr) pool_->release(memory_);
}

StackPool::StackPool(Options options) : options_(rounded(options)) {
  idle_.reserve(options_.idle_max);
}

StackPool::~StackPool() {
  SENNIT_ASSERT(on_loan_count_ == 0, on_loan_count_);
  for (const auto memory : idle_) unmap(memory);
}

Result<Stack> StackPool::acquire() {
  if (on_loan_count_ >= options_.on_loan_max) {
    return failure(Errc::limit_reached, "lend a fiber stack: all " +
                                            std::to_string(options_.on_loan_max) + " are in use");
  }
  if (idle_.empty()) {
    SENNIT_TRY(const std::span<std::byte> memory, map_guarded(options_.usable_bytes));
    ++on_loan_count_;
    return Stack(*this, memory);
  }
  const std::span<std::byte> memory = idle_.back();
  idle_.pop_back();
  ++on_loan_count_;
  return Stack(*this, memory);
}

void StackPool::release(std::span<std::byte> memory) noexcept {
  --on_loan_count_;
  if (idle_.size() < options_.idle_max) {
    idle_.push_back(memory);
  } else {
    unmap(memory);
  }
}

}  // namespace sennit::fiber
