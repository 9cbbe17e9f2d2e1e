#pragma once
// The percentile distribution of a histogram as HdrHistogram prints it (.hgrm), which its plotter
// reads.
//
// Thread safety: a pure function.

#include <string>

#include "sennit/metrics/histogram.hpp"

namespace sennit::load {

/// Lines of value, percentile, total count and 1/(1-percentile), five for each halving of the
/// distance to 100 %, and a summary. Nanoseconds are shown as milliseconds.
[[nodiscard]] std::string percentile_distribution(const metrics::Histogram& histogram_ns);

}  // namespace sennit::load
