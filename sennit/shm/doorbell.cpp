#include "sennit/shm/doorbell.hpp"

#include <climits>
#include <ctime>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::shm {
namespace {

class FutexDoorbell final : public Doorbell {
 public:
  void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                Duration at_most) override {
    timespec time{};
    time.tv_sec = static_cast<time_t>(at_most.count() / 1'000'000'000);
    time.tv_nsec = static_cast<long>(at_most.count() % 1'000'000'000);
    // Not private: the other side may be another process. Whatever it returns, the caller looks.
    ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &time, nullptr, 0);
  }
  void ring(std::atomic<std::uint32_t>& word) override {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
};

bool membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0) == 0; }

bool can_use_barriers() {
  static const bool can = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
  return can;
}

}  // namespace

Doorbell& futex_doorbell() {
  static FutexDoorbell doorbell;
  return doorbell;
}

void join_barriers() { static_cast<void>(can_use_barriers()); }

void WaitWord::announce() {
  word.fetch_or(is_waiting);
  if (!can_use_barriers() || !membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED)) {
    word.fetch_or(needs_fence);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

void WaitWord::retract() { word.fetch_and(~is_waiting); }

void WaitWord::notify_slowly(Doorbell& doorbell) {
  // A full fence between publishing and the second look, for sleepers without membarrier().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if ((word.load() & is_waiting) == 0) return;
  word.fetch_and(~is_waiting);  // One ring for one announcement.
  doorbell.ring(word);
}

}  // namespace sennit::shm
