#pragma once
// Measuring a body: how often it ran in how much time, and what one call took.
//
// The clock is read once per batch of calls; a batch grows until it takes a fraction of a
// millisecond.
//
//   warm-up | repetition 1 | ... | repetition R | latency pass | allocation pass
//
// Thread safety: measure() starts threads itself as the settings ask, which call the body at once.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/metrics/histogram.hpp"
#include "sennit/perftest/allocations.hpp"
#include "sennit/perftest/body.hpp"
#include "sennit/perftest/counters.hpp"
#include "sennit/perftest/options.hpp"

namespace sennit::perftest {

/// A clock that can also be waited for.
class Timeline : public Clock {
 public:
  virtual void sleep_until(TimePoint instant) = 0;
};

class RealTimeline final : public Timeline {
 public:
  [[nodiscard]] TimePoint now() const override { return clock_.now(); }
  [[nodiscard]] WallTime wall_now() const override { return clock_.wall_now(); }
  void sleep_until(TimePoint instant) override;

 private:
  RealClock clock_;
};

struct Measurement {
  std::uint64_t calls = 0;
  Duration time = Duration::zero();
  bool aborted = false;
  std::vector<double> ns_per_call;  // Of each repetition. Time passed, whatever the threads.
  std::optional<metrics::Histogram> latency_ns;  // At a fixed rate from when the call was due.
  CounterValues counters_per_call;
  std::string counters_unavailable;        // Why there are none, if there are none.
  std::optional<Allocations> allocations;  // Of `allocation_calls` calls; none if not counted.
  std::uint64_t allocation_calls = 0;

  [[nodiscard]] double hz() const;
};

[[nodiscard]] Measurement measure(Body& body, const Settings& settings, Timeline& timeline);

}  // namespace sennit::perftest
