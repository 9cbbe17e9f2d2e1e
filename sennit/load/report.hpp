#pragma once
// Report: what a run has measured.
//
// Two times are told apart, and never mixed:
//
//   service time   from handing a request to the kernel until the last byte of its response was
//   parsed response time  from the instant at which the request was meant to be sent, which only an
//   open loop
//                  knows, until the same end: what a user would have waited
//
// Only complete responses have them, whatever their status; a request that timed out or failed is
// counted among the errors and in nothing else.
//
// A closed loop waits for a slow response before it asks again, so a server's pause is seen by one
// request of each connection, not by all that would have come meanwhile: percentiles are those of
// the requests made, not of requests that arrive at a steady rate.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/load/machine_context.hpp"
#include "sennit/metrics/histogram.hpp"

namespace sennit::load {

enum class ErrorKind : std::uint8_t {
  connect,  // No connection: refused, unreachable, no descriptor left.
  read,     // Reset, ended within a response, or bytes that are no HTTP.
  write,    // The request could not be sent.
  timeout,  // Neither connected, or not answered in full, within Options::timeout.
  status,   // A complete response with a status of 400 or more.
};
inline constexpr std::size_t error_kind_count = 5;

/// "connect". Static storage.
[[nodiscard]] std::string_view to_string(ErrorKind kind);

class ErrorCounts {
 public:
  [[nodiscard]] std::uint64_t operator[](ErrorKind kind) const {
    return counts_[static_cast<std::size_t>(kind)];
  }
  void add(ErrorKind kind, std::uint64_t count) {
    counts_[static_cast<std::size_t>(kind)] += count;
  }
  [[nodiscard]] std::uint64_t total() const;

 private:
  std::array<std::uint64_t, error_kind_count> counts_{};
};

struct Report {
  std::string url;
  std::uint32_t connections = 0;
  unsigned workers = 0;
  std::uint32_t pipeline = 1;
  std::string backend;  // "io_uring" or "epoll".
  double rate = 0;      // What was asked for on average, in requests/s; 0 for a closed loop.

  Duration duration = Duration::zero();  // Until the last worker ended, without the warm-up.
  std::uint64_t requests = 0;            // Answered in full.
  std::uint64_t unsent = 0;  // Of an open loop: due when the run ended, and still not sent.
  std::uint64_t bytes_read = 0;
  ErrorCounts errors;
  std::string first_error;  // The first one that was not a status, in words; empty if none was.

  metrics::Histogram service_ns = metrics::Histogram(latency_options);
  metrics::Histogram response_ns = metrics::Histogram(latency_options);  // Empty in a closed loop.
  metrics::Histogram lag_ns = metrics::Histogram(latency_options);  // How late we sent, see below.
  metrics::Histogram rates =
      metrics::Histogram(rate_options);  // Requests/s of one worker, each 100 ms.

  double cpu_busy = 0;  // Of the busiest worker: its CPU time through the run's time.
  Duration cpu_time = Duration::zero();  // Of all workers.

  /// Why the figures must not be believed, in words: the generator itself was late or had no CPU
  /// left.
  std::vector<std::string> void_reasons;

  /// One second of the run.
  struct Interval {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> counts;  // Of the buckets in use.
    std::uint64_t errors = 0;

    /// Response times of an open loop, service times of a closed one.
    [[nodiscard]] metrics::Histogram histogram() const;
  };
  std::vector<Interval> intervals;

  MachineContext machine;
  std::vector<Report> beside;  // Of the streams driven at the same time.

  /// An hour of nanoseconds, to three digits.
  static constexpr metrics::HistogramOptions latency_options{};
  static constexpr metrics::HistogramOptions interval_options{
      .lowest = 1, .highest = 3'600'000'000'000, .significant_digits = 2};
  static constexpr metrics::HistogramOptions rate_options{
      .lowest = 1, .highest = 1'000'000'000, .significant_digits = 3};

  [[nodiscard]] bool is_open_loop() const { return rate > 0; }
  [[nodiscard]] bool is_void() const { return !void_reasons.empty(); }
  /// What its users would have waited: response times if it knows them, else service times.
  [[nodiscard]] const metrics::Histogram& latency_ns() const {
    return is_open_loop() ? response_ns : service_ns;
  }
  [[nodiscard]] double requests_per_second() const;
  [[nodiscard]] double bytes_per_second() const;

  /// Adds another worker's seconds to ours, second by second.
  void add_intervals(const std::vector<Interval>& others);
  /// Fills void_reasons. `lag_max`: of an open loop, how late 99 % of its sendings may be.
  void judge(Duration lag_max);
  /// Adds a run of another machine at the same time: exact, histograms and all.
  void merge(const Report& other);
};

}  // namespace sennit::load
