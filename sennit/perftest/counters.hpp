#pragma once
// The processor's own counters: instructions, cycles and cache misses in user mode, by perf_event.
//
// Many machines do not allow them (virtual machines without a counter unit, containers, a
// perf_event_paranoid above 2). Then opening fails, and the reason is shown instead of numbers.
//
// Thread safety: none. They count the thread that opened them and the threads it starts afterwards.

#include <array>
#include <optional>

#include "sennit/base/result.hpp"

namespace sennit::perftest {

/// Each is none where the processor has no such counter.
struct CounterValues {
  std::optional<double> instructions;
  std::optional<double> cycles;
  std::optional<double> cache_misses;
};

class Counters {
 public:
  /// Errors: those of perf_event_open, such as not_found on a machine that has no counters.
  [[nodiscard]] static Result<Counters> open();

  Counters(Counters&& other) noexcept;
  Counters& operator=(Counters&&) = delete;
  ~Counters();

  void start();  // From zero.
  void stop();
  /// Since start(). Scaled up when the kernel had to share the counters out.
  [[nodiscard]] CounterValues values() const;

 private:
  explicit Counters(std::array<int, 3> descriptors) : descriptors_(descriptors) {}

  std::array<int, 3> descriptors_;  // In the order of CounterValues; -1 where there is none.
};

}  // namespace sennit::perftest
