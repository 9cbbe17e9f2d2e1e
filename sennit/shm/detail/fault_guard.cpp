#include "sennit/shm/detail/fault_guard.hpp"

#include <cerrno>
#include <mutex>
#include <signal.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::shm::detail {
namespace {

// A range is claimed by setting `begin` last and given back by clearing it, so that the handler,
// which may run at any moment on any thread, sees whole ranges or none.
struct Range {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<std::uintptr_t> page_bytes{0};
  std::atomic<bool> is_damaged{false};
};

Range ranges[guarded_range_max];
std::atomic<std::size_t> range_limit{0};  // Ranges at and beyond it were never used.
std::mutex ranges_mutex;                  // Serialises guard() and unguard().
struct sigaction previous;

bool map_zeros(std::uintptr_t address) {
  const std::size_t limit = range_limit.load();
  for (std::size_t i = 0; i < limit; ++i) {
    Range& range = ranges[i];
    const std::uintptr_t begin = range.begin.load();
    if (begin == 0 || address < begin || address >= range.end.load()) continue;
    const std::uintptr_t page_bytes = range.page_bytes.load();
    auto* page = reinterpret_cast<void*>(address / page_bytes * page_bytes);
    range.is_damaged.store(true);
    return ::mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                  -1, 0) == page;
  }
  return false;
}

void hand_on(int signal, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0 && previous.sa_sigaction != nullptr) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    ::signal(signal, SIG_DFL);  // Returning repeats the access, which now ends the process.
  }
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  if (!map_zeros(reinterpret_cast<std::uintptr_t>(info->si_addr))) hand_on(signal, info, context);
  errno = saved;
}

void install_handler() {
  struct sigaction action{};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &previous);
}

}  // namespace

Result<const std::atomic<bool>*> guard(void* begin, std::size_t bytes, std::size_t page_bytes) {
  static std::once_flag once;
  std::call_once(once, install_handler);
  const std::lock_guard lock(ranges_mutex);
  for (std::size_t i = 0; i < guarded_range_max; ++i) {
    Range& range = ranges[i];
    if (range.begin.load() != 0) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    range.is_damaged.store(false);
    range.end.store(address + bytes);
    range.page_bytes.store(page_bytes);
    range.begin.store(address);
    if (i >= range_limit.load()) range_limit.store(i + 1);
    return &range.is_damaged;
  }
  return failure(Errc::limit_reached,
                 "map more than " + std::to_string(guarded_range_max) + " segments in one process");
}

void unguard(const void* begin) {
  const std::lock_guard lock(ranges_mutex);
  for (Range& range : ranges) {
    if (range.begin.load() == reinterpret_cast<std::uintptr_t>(begin)) range.begin.store(0);
  }
}

}  // namespace sennit::shm::detail
