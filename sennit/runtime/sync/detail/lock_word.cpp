#include "sennit/runtime/sync/detail/lock_word.hpp"

#include <thread>

namespace sennit::runtime::detail {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

LockWord::Bits LockWord::lock_contended() {
  constexpr int spins = 100;
  for (int tried = 0;; ++tried) {
    Bits seen = word_.load(std::memory_order_relaxed);  // Only a guess, as in lock().
    // Acquire pairs with the release of unlock() and try_change(). A failure is tried again.
    if ((seen & locked) == 0 &&
        word_.compare_exchange_weak(seen, seen | locked, std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return seen;
    }
    if (tried < spins) {
      pause();
    } else {
      std::this_thread::yield();
    }
  }
}

}  // namespace sennit::runtime::detail
