#pragma once
// Comparing two reports: what got slower, what faster, and what cannot be told.
//
// Each test is compared by the times of its repetitions, and what took part in rounds (rounds.hpp)
// by its ratios to the first of them, which itself is not judged. A test counts as changed when the
// whole interval of 95 % confidence (statistics.hpp) lies beyond the threshold. Repetitions of one
// run share that run's luck (addresses, neighbours on the machine), so a threshold of a few per
// cent is part of the method, and a change that matters wants a second run.
//
// Thread safety: pure functions.

#include <optional>
#include <string>
#include <vector>

#include "sennit/perftest/report.hpp"
#include "sennit/perftest/statistics.hpp"

namespace sennit::perftest {

enum class Change : unsigned char {
  none,  // The whole interval is within the threshold.
  slower,
  faster,
  unclear,  // The interval reaches across the threshold.
  measure,  // What others were measured by, in rounds: not judged.
  added,    // Only in the new report.
  removed,  // Only in the old one.
};

struct Comparison {
  struct Test {
    std::string name;
    Change change;
    double before_ns = 0;  // Medians; 0 where there is none.
    double after_ns = 0;
    RatioEstimate ratio{1, std::nullopt};  // Of after to before.
    double before_beside = 0;              // Medians of the ratios it was compared by, or 0.
    double after_beside = 0;
  };
  bool same_machine_class = true;
  std::vector<Test> tests;  // In the order of the new report, then what was removed.

  [[nodiscard]] bool has_regression() const;
};

[[nodiscard]] Comparison compare(const Recorded& before, const Recorded& after,
                                 double threshold_percent);

/// A table with a line per test, and a line that sums up.
[[nodiscard]] std::string describe(const Comparison& comparison);

}  // namespace sennit::perftest
