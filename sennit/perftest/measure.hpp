#pragma once
// Measuring a body: how often it ran in how much time, and what one call took.
//
// The clock is read once per batch of calls; a batch grows until it takes a fraction of a
// millisecond.
//
//   warm-up | repetition 1 | ... | repetition R | latency pass | allocation pass
//
// Thread safety: measure() has the body called by as many threads or fibers at once as the settings
// ask for.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/metrics/histogram.hpp"
#include "sennit/perftest/allocations.hpp"
#include "sennit/perftest/body.hpp"
#include "sennit/perftest/counters.hpp"
#include "sennit/perftest/crew.hpp"
#include "sennit/perftest/options.hpp"

namespace sennit::perftest {

struct Measurement {
  std::uint64_t calls = 0;
  Duration time = Duration::zero();
  bool aborted = false;
  std::vector<double> ns_per_call;               // Of each repetition. Time passed, whoever calls.
  std::optional<metrics::Histogram> latency_ns;  // At a fixed rate from when the call was due.
  CounterValues counters_per_call;
  std::string counters_unavailable;        // Why there are none, if there are none.
  std::optional<Allocations> allocations;  // Of `allocation_calls` calls; none if not counted.
  std::uint64_t allocation_calls = 0;

  [[nodiscard]] double hz() const;
};

/// `crew` calls the body and waits by `timeline`: settings.threads of them, times settings.fibers
/// if these are not 0.
[[nodiscard]] Measurement measure(Body& body, const Settings& settings, Crew& crew,
                                  Timeline& timeline);
/// With threads.
[[nodiscard]] Measurement measure(Body& body, const Settings& settings, Timeline& timeline);

}  // namespace sennit::perftest
