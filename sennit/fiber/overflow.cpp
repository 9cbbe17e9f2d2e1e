#include "sennit/fiber/overflow.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "sennit/fiber/detail/guarded_regions.hpp"
#include "sennit/fiber/stack.hpp"

namespace sennit::fiber {
namespace {

constexpr std::size_t signal_stack_bytes = std::size_t{64} * 1024;  // Wide registers take 11 KiB.

constinit std::once_flag installed;
constinit std::atomic<OverflowReports::NameOfRunning> name_of_running = nullptr;
struct sigaction previous;  // Written before the handler is there, then only read.

/// A line of text that is put together without the heap. What does not fit is left out.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    for (const char c : text.substr(0, sizeof text_ - length_)) {
      text_[length_++] = c == '\n' || (c >= ' ' && c <= '~') ? c : '?';
    }
    return *this;
  }
  Line& number(std::uintptr_t value, int base = 10) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, value, base).ptr;
    return *this << std::string_view(digits, end);
  }
  void write() const { [[maybe_unused]] const auto n = ::write(STDERR_FILENO, text_, length_); }

 private:
  char text_[512];
  std::size_t length_ = 0;
};

std::uintptr_t stack_pointer(const void* signal_context) {
  const auto& machine = static_cast<const ucontext_t*>(signal_context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#else
  return machine.sp;
#endif
}

// Who runs on this stack, or just below it, has run over it; others merely hit upon its guard.
bool runs_on(const detail::GuardedRegion::Found& stack, const void* signal_context) {
  constexpr std::uintptr_t frame_bytes_max = 1 << 20;
  const auto low = reinterpret_cast<std::uintptr_t>(stack.low);
  const std::uintptr_t pointer = stack_pointer(signal_context);
  return pointer < low + stack.usable_bytes && pointer > low - frame_bytes_max;
}

void report(const detail::GuardedRegion::Found& stack, bool is_overflow, const void* address) {
  const StackTop* const top = stack_top(stack.low, stack.usable_bytes);
  const OverflowReports::NameOfRunning running = name_of_running;
  std::string_view name;
  if (top->mark == StackTop::has_name) {
    name = top->name;
  } else if (is_overflow && running != nullptr) {
    name = running();
  }
  if (name.empty()) name = "(no name)";
  Line line;
  line << (is_overflow ? "sennit: stack overflow in fiber \""
                       : "sennit: access to the guard below the stack of fiber \"")
       << name.substr(0, 200) << "\": the stack has ";
  line.number(stack.usable_bytes) << " bytes from 0x";
  line.number(reinterpret_cast<std::uintptr_t>(stack.low), 16) << ", the fault is at 0x";
  line.number(reinterpret_cast<std::uintptr_t>(address), 16) << "\n";
  line.write();
}

// The instruction faults again when the handler returns, this time for good.
void fault_again_by_default() {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGSEGV, &standard, nullptr);
}

void handle(int signal, siginfo_t* info, void* context) {
  const bool is_fault = info->si_code > 0;  // Not sent by somebody: there is an address.
  if (is_fault) {
    const auto found = detail::GuardedRegion::find(info->si_addr);
    if (found && found->is_guard) {
      report(*found, runs_on(*found, context), info->si_addr);
      fault_again_by_default();
      return;
    }
  }
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else if (is_fault) {
    fault_again_by_default();
  } else if (previous.sa_handler == SIG_DFL) {
    fault_again_by_default();
    ::raise(signal);
  }
}

void install() {
  if (::sigaction(SIGSEGV, nullptr, &previous) != 0) return;
  struct sigaction action{};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace

OverflowReports::OverflowReports(NameOfRunning its_name) {
  if (its_name != nullptr) name_of_running = its_name;
  std::call_once(installed, &install);
  stack_t current{};
  if (::sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
  void* const memory = ::mmap(nullptr, signal_stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t own{};
  own.ss_sp = memory;
  own.ss_size = signal_stack_bytes;
  if (::sigaltstack(&own, nullptr) == 0) {
    signal_stack_ = memory;
  } else {
    ::munmap(memory, signal_stack_bytes);
  }
}

OverflowReports::~OverflowReports() {
  if (signal_stack_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(signal_stack_, signal_stack_bytes);
}

}  // namespace sennit::fiber
