#pragma once
// Sweep: the runs of a matrix. "connections=1..2048x2 body=16..65536x2" are 12 times 13 runs.
//
// An axis is NAME=VALUES with a list "1,8,64", a range "1..2048x2" (each value twice the one
// before) or "100..500+100". connections, threads, rate and pipeline are options of the run; each
// other name stands in the URL as {NAME}; `body`, where the URL has no {body}, is the size of the
// request's body in bytes.
//
// Thread safety: pure functions.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/load/options.hpp"

namespace sennit::load {

struct Axis {
  std::string name;
  std::vector<std::uint64_t> values;
};

inline constexpr std::size_t axis_values_max = 1000;
inline constexpr std::size_t sweep_runs_max = 10'000;

/// Errors: invalid_argument, which shows how it is written.
[[nodiscard]] Result<Axis> parse_axis(std::string_view text);

/// One run of the matrix: a value of each axis, the first axis slowest.
struct SweepPoint {
  std::vector<std::uint64_t> values;
};
/// Errors: limit_reached for more than sweep_runs_max; invalid_argument for two axes of one name.
[[nodiscard]] Result<std::vector<SweepPoint>> sweep_points(const std::vector<Axis>& axes);

/// The options of one run; `url` may have {NAME} of axes.
/// Errors: invalid_argument for a name that is neither an option nor in the URL.
[[nodiscard]] Result<Options> options_at(const Options& options, std::string_view url,
                                         const std::vector<Axis>& axes, const SweepPoint& point);

/// The URL with the first values of the axes in it, to be checked before anything runs.
[[nodiscard]] std::string fill_url(std::string_view url, const std::vector<Axis>& axes,
                                   const SweepPoint& point);

}  // namespace sennit::load
