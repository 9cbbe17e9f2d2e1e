#pragma once
// Telling AddressSanitizer and ThreadSanitizer of every switch between stacks.
//
// Without it the first believes that a frame on another stack is an overflow, and the second that
// two fibers are one call stack. All of this compiles to nothing in a plain build.
//
// Always inlined: a function that ThreadSanitizer sees entered on one stack must not be left on
// another, which would take from the wrong one of its call stacks.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SENNIT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SENNIT_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SENNIT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SENNIT_TSAN 1
#endif
#endif

#ifdef SENNIT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SENNIT_TSAN
#include <mutex>
#include <sanitizer/tsan_interface.h>
#include <vector>
#endif

// For functions that are entered and never left. What Clang calls no_sanitize still notes their
// entry, for the sake of call stacks in reports.
#ifdef __clang__
#define SENNIT_NOT_INSTRUMENTED [[clang::disable_sanitizer_instrumentation]]
#else
#define SENNIT_NOT_INSTRUMENTED [[gnu::no_sanitize_thread, gnu::no_sanitize_address]]
#endif

namespace sennit::fiber::detail {

/// One stack, as the sanitizers know it. A thread's own stack is learnt when a fiber first runs.
struct SanitizerStack {
#ifdef SENNIT_ASAN
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  void* fake_stack = nullptr;
#endif
#ifdef SENNIT_TSAN
  void* context = nullptr;
#endif
};

#ifdef SENNIT_TSAN
/// ThreadSanitizer with GCC 12 ends the program at the 8,128th context that it ever made, so those
/// of dead fibers are used again. They carry nothing over: Fiber::enter is not instrumented, and
/// whatever it called has returned. An entry left behind by each would overflow a context's call
/// stack at the 65,536th.
class TsanContexts {
 public:
  static void* take() {
    const std::lock_guard lock(mutex_);
    if (unused_.empty()) return __tsan_create_fiber(0);
    void* const context = unused_.back();
    unused_.pop_back();
    return context;
  }
  static void put_back(void* context) {
    const std::lock_guard lock(mutex_);
    unused_.push_back(context);
  }

 private:
  static inline constinit std::mutex mutex_;
  static inline std::vector<void*> unused_;
};
#endif

[[gnu::always_inline]] inline void sanitizer_create([[maybe_unused]] SanitizerStack& stack,
                                                    [[maybe_unused]] const void* bottom,
                                                    [[maybe_unused]] std::size_t bytes) {
#ifdef SENNIT_ASAN
  stack.bottom = bottom;
  stack.bytes = bytes;
#endif
#ifdef SENNIT_TSAN
  stack.context = TsanContexts::take();
#endif
}

[[gnu::always_inline]] inline void sanitizer_destroy([[maybe_unused]] SanitizerStack& stack) {
#ifdef SENNIT_ASAN
  // The frame that loops at the bottom never returns and cleans up behind itself.
  __asan_unpoison_memory_region(stack.bottom, stack.bytes);
#endif
#ifdef SENNIT_TSAN
  TsanContexts::put_back(stack.context);
#endif
}

/// Right before a switch from `from` to `to`.
[[gnu::always_inline]] inline void sanitizer_leave([[maybe_unused]] SanitizerStack& from,
                                                   [[maybe_unused]] SanitizerStack& to) {
#ifdef SENNIT_TSAN
  from.context = __tsan_get_current_fiber();  // Who resumes a fiber may be another each time.
  // Flag 0 orders what one fiber did before what the next does: they share a thread, so they are.
  __tsan_switch_to_fiber(to.context, 0);
#endif
#ifdef SENNIT_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.bottom, to.bytes);
#endif
}

/// Right before the switch with which the function on `from` has returned.
[[gnu::always_inline]] inline void sanitizer_finish([[maybe_unused]] SanitizerStack& from,
                                                    [[maybe_unused]] SanitizerStack& to) {
#ifdef SENNIT_TSAN
  from.context = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.context, 0);
#endif
#ifdef SENNIT_ASAN
  from.fake_stack = nullptr;
  __sanitizer_start_switch_fiber(nullptr, to.bottom, to.bytes);  // Null: frees the fake stack.
#endif
}

/// Right after a switch back into `self`, or the first into it; `from` is where it came from.
[[gnu::always_inline]] inline void sanitizer_enter([[maybe_unused]] SanitizerStack& self,
                                                   [[maybe_unused]] SanitizerStack& from) {
#ifdef SENNIT_ASAN
  __sanitizer_finish_switch_fiber(self.fake_stack, &from.bottom, &from.bytes);
#endif
}

}  // namespace sennit::fiber::detail
