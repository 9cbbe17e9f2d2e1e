#pragma once
// Interval: beats at a fixed distance, for what is to be done again and again.
//
//   Interval every(100ms);
//   for (;;) { wait(every.next()); refresh(); }
//
// Beats are multiples of the period from the start on, however late each is noticed: there is no
// drift. Whoever is later than a whole period misses beats rather than getting a burst of them.
//
// Thread safety: none. On a worker.

#include <algorithm>
#include <cstdint>

#include "sennit/base/assert.hpp"
#include "sennit/base/time.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

class Interval {
 public:
  /// Requires a period of more than nothing. The first beat comes a period from now.
  explicit Interval(Duration period)
      : period_(period), clock_(Worker::here().clock()), last_(clock_.now()) {
    SENNIT_ASSERT(period > Duration::zero());
  }

  /// Awaitable, Result<void>: the next beat.
  [[nodiscard]] Sleep next() {
    const std::int64_t passed = (clock_.now() - last_) / period_;
    const std::int64_t late = std::max<std::int64_t>(passed, 0);
    missed_ += static_cast<std::uint64_t>(late);
    last_ += (late + 1) * period_;
    return sleep_until(last_);
  }
  /// The beat that next() returned last.
  [[nodiscard]] TimePoint last() const { return last_; }
  /// Beats that nobody waited for, because whoever should have was late.
  [[nodiscard]] std::uint64_t missed_count() const { return missed_; }

 private:
  Duration period_;
  const Clock& clock_;
  TimePoint last_;
  std::uint64_t missed_ = 0;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Interval;
}
