#pragma once
// Reports as JSON, for programs and for later: everything that is needed to compare or merge runs.
//
// A histogram is a line of an HdrHistogram log (metrics/histogram_log.hpp) besides its percentiles,
// so that merging adds counts, never percentiles, and any reader of such logs can go on from there.
//
// Thread safety: pure functions.

#include <string>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/load/report.hpp"

namespace sennit::load {

/// One JSON object and a line feed. Latencies are in microseconds.
[[nodiscard]] std::string to_json(const Report& report);

/// Reads what to_json() wrote, from anyone. Sums, least and greatest values come back as precise as
/// the histograms' buckets are.
///
/// Errors: malformed, which says where.
[[nodiscard]] Result<Report> report_from_json(std::string_view json);

}  // namespace sennit::load
