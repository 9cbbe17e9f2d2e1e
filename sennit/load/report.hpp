#pragma once
// Report: what a run has measured, and how it is told to people and to programs.
//
// Latency is the time from handing a request to the kernel until the last byte of its response was
// parsed. Only complete responses have one, whatever their status; a request that timed out or
// failed is counted among the errors and in nothing else.
//
// A closed loop waits for a slow response before it asks again, so a server's pause is seen by one
// request of each connection, not by all that would have come meanwhile: percentiles are those of
// the requests made, not of requests that arrive at a steady rate.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/time.hpp"
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
  std::string backend;  // "io_uring" or "epoll".

  Duration duration = Duration::zero();  // Until the last worker ended; may be less than asked for.
  std::uint64_t requests = 0;            // Answered in full.
  std::uint64_t bytes_read = 0;
  ErrorCounts errors;
  std::string first_error;  // The first one that was not a status, in words; empty if none was.

  metrics::Histogram latency_ns = metrics::Histogram(latency_options);
  metrics::Histogram rates =
      metrics::Histogram(rate_options);  // Requests/s of one worker, each 100 ms.

  /// An hour of nanoseconds, to three digits.
  static constexpr metrics::HistogramOptions latency_options{};
  static constexpr metrics::HistogramOptions rate_options{
      .lowest = 1, .highest = 1'000'000'000, .significant_digits = 3};

  [[nodiscard]] double requests_per_second() const;
  [[nodiscard]] double bytes_per_second() const;
};

/// The line that comes before a run: "Running 5s test @ http://host/" and a second one.
[[nodiscard]] std::string heading_text(std::string_view url, Duration duration, unsigned workers,
                                       std::uint32_t connections);

/// What comes after it, laid out as wrk does; the distribution has two lines more, 99.9% and max.
[[nodiscard]] std::string to_text(const Report& report);

/// One JSON object and a line feed. Latencies are in microseconds.
[[nodiscard]] std::string to_json(const Report& report);

}  // namespace sennit::load
