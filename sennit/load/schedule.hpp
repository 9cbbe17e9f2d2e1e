#pragma once
// Schedule: when each request of an open loop is meant to be sent, from rates that change with
// time.
//
//   Schedule({{30s, 1000, 10'000}, {60s, 10'000, 10'000}})     a ramp, then a plateau
//
// Within a segment the rate goes from `from` to `to` in a straight line, so that the number of
// requests due by an instant is a polynomial of second degree and the instant of the k-th request
// its root. After the last segment its last rate goes on.
//
// Thread safety: pure; nothing changes after construction.

#include <cstdint>
#include <string_view>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"

namespace sennit::load {

class Schedule {
 public:
  struct Segment {
    Duration length;
    double from;  // Requests per second at its beginning,
    double to;    // and at its end.
  };
  static constexpr double rate_max = 1e8;

  /// Requires at least one segment, lengths above zero, rates from 0 to rate_max, and a last rate
  /// above 0.
  explicit Schedule(std::vector<Segment> segments);
  [[nodiscard]] static Schedule constant(double rate);

  /// When request number `index` (from 0) is due, counted from the beginning.
  [[nodiscard]] Duration time_of(std::uint64_t index) const;
  /// The rate at an instant.
  [[nodiscard]] double rate_at(Duration time) const;
  /// The mean of the rate over the time from the beginning.
  [[nodiscard]] double mean_rate(Duration time) const;

 private:
  struct Part {
    double begin_s, length_s, from, to;
    double index_begin;  // How many are due before it.
  };
  [[nodiscard]] double count_in(const Part& part, double seconds) const;
  std::vector<Part> parts_;
};

/// "1000..10000:30s" a ramp, "5000:1m" a plateau; several separated by commas.
/// Errors: invalid_argument, which shows the part that was not understood.
[[nodiscard]] Result<std::vector<Schedule::Segment>> parse_segments(std::string_view text);

}  // namespace sennit::load
