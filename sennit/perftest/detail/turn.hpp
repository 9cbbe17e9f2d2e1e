#pragma once
// One turn of something that is measured in turns with others.

#include <cstdint>
#include <functional>

#include "sennit/base/time.hpp"

namespace sennit::perftest::detail {

/// What `times` calls take.
inline Duration time_of(const std::function<void(std::uint64_t)>& repeat, std::uint64_t times,
                        const Clock& clock) {
  const TimePoint begin = clock.now();
  repeat(times);
  return clock.now() - begin;
}

/// As many calls as take about a turn; the search is the warm-up too.
inline std::uint64_t times_per_turn(const std::function<void(std::uint64_t)>& repeat, Duration turn,
                                    const Clock& clock) {
  std::uint64_t times = 1;
  while (time_of(repeat, times, clock) < turn && times < std::uint64_t{1} << 40) times *= 2;
  return times;
}

}  // namespace sennit::perftest::detail
