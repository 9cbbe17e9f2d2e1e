#pragma once
// The HdrHistogram log: one line of text per interval, each a whole histogram.
//
//   #[StartTime: 1700000000.000 (seconds since epoch)]
//   "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
//   0.000,1.000,12.345,HISTFAAAA...
//
// HistogramLogAnalyzer, hdr-plot and the readers in HdrHistogram's libraries take it as it is.
//
// Thread safety: pure functions.

#include <string>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/metrics/histogram.hpp"

namespace sennit::metrics {

/// In seconds, relative to the start in the log's header.
struct LogInterval {
  double start_s = 0;
  double length_s = 0;
};

struct LogEntry {
  LogInterval interval;
  Histogram histogram;
};

/// The lines that begin a log; `start_s` is in seconds since 1970.
[[nodiscard]] std::string log_header(double start_s);

/// One line, with its newline. It shows the maximum divided by `max_divisor`: 1e6 shows nanoseconds
/// as milliseconds, which is what readers expect.
[[nodiscard]] std::string log_line(const LogInterval& interval, const Histogram& histogram,
                                   double max_divisor = 1e6);

/// Reads a line as log_line() writes it, with or without the newline; a tag before it, as other
/// writers put there, is skipped. Header lines are not histograms: see is_log_comment().
///
/// Errors: malformed, and those of decode() (histogram_encoding.hpp).
[[nodiscard]] Result<LogEntry> parse_log_line(std::string_view line);

/// Whether a line is a comment, the column names or empty.
[[nodiscard]] bool is_log_comment(std::string_view line);

}  // namespace sennit::metrics
