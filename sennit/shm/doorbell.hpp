#pragma once
// How one side of a container sleeps until the other has done something, across processes.
//
// A WaitWord lives in shared memory, one for each side that may sleep:
//
// 1. Who wants to sleep announces it (bit 0), looks once more whether there is work, and sleeps
// only
//    if there is none, while the bit is set.
// 2. Who made work publishes it first, then looks at the word, and rings if the bit is set. That
//    look is one load of a line that nobody writes as long as nobody sleeps.
// 3. Between publishing and looking there ought to be a full fence, or the look may come first and
//    miss a sleeper that misses the work. The sleeper pays for it instead: membarrier() makes every
//    running thread of the registered processes pass one. Where the kernel refuses membarrier(),
//    bit 1 is set for good, and the other side fences.
// 4. A process may be killed between publishing and ringing. Nobody sleeps longer than
//    sleep_max without looking again.
//
// Threads and processes sleep on the word itself, with a futex. Whatever else can sleep (a fiber, a
// coroutine, a loop over descriptors) brings a Doorbell: its side announces, looks, waits for its
// own thing, retracts; the other side rings it.
//
// Thread safety: a WaitWord any thread of any process; announce and retract only its own side.

#include <atomic>
#include <cstdint>

#include "sennit/base/time.hpp"

namespace sennit::shm {

/// The longest that anything sleeps without looking for itself.
inline constexpr Duration sleep_max = std::chrono::milliseconds(500);

class Doorbell {
 public:
  virtual ~Doorbell() = default;
  /// Sleeps while `word` is `value`, at most that long; may return early for no reason. A fiber's
  /// doorbell suspends it instead, on something that its own ring() makes ready.
  virtual void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                        Duration at_most) = 0;
  /// Wakes whoever sleeps on `word`, in whichever process.
  virtual void ring(std::atomic<std::uint32_t>& word) = 0;
};

/// Sleeps on the word itself. Static lifetime; any thread.
[[nodiscard]] Doorbell& futex_doorbell();

/// In shared memory; zeros are a valid start. See the rules above.
struct WaitWord {
  std::atomic<std::uint32_t> word;

  static constexpr std::uint32_t is_waiting = 1;
  static constexpr std::uint32_t needs_fence = 2;

  void announce();
  void retract();
  [[nodiscard]] std::uint32_t value() const { return word.load(); }

  /// After publishing.
  void notify(Doorbell& doorbell) {
    // Keeps the compiler from looking before publishing; the machine is kept by rule 3.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // relaxed: pairs with announce(), ordered by the membarrier that it makes us pass.
    if (word.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      notify_slowly(doorbell);
    }
  }

 private:
  void notify_slowly(Doorbell& doorbell);
};

/// Lets this process take part in rule 3. Called on attach; cheap after the first time.
void join_barriers();

/// Waits until `ready()` is true; false if the deadline passes first. `ready` is asked at least
/// every sleep_max. Spins a little first: a message is often on its way.
template <class Ready>
bool wait_until_ready(WaitWord& wait_word, Deadline deadline, const Clock& clock,
                      Doorbell& doorbell, Ready ready) {
  for (int spin = 0; spin < 200; ++spin) {
    if (ready()) return true;
  }
  for (;;) {
    wait_word.announce();
    const bool is_ready = ready();
    const TimePoint now = clock.now();
    if (is_ready || deadline.expired(now)) {
      wait_word.retract();
      return is_ready;
    }
    const Duration left = deadline.remaining(now);
    doorbell.sleep_on(wait_word.word, wait_word.value() | WaitWord::is_waiting,
                      left < sleep_max ? left : sleep_max);
  }
}

}  // namespace sennit::shm
