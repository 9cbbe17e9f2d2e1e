#pragma once
// Reports as text for people, laid out as wrk does.
//
// Thread safety: pure functions.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/time.hpp"
#include "sennit/load/report.hpp"

namespace sennit::load {

/// The line that comes before a run: "Running 5s test @ http://host/" and a second one.
[[nodiscard]] std::string heading_text(std::string_view url, Duration duration, unsigned workers,
                                       std::uint32_t connections);

/// What comes after it, to the letter what wrk prints; with_distribution is its --latency. What wrk
/// does not know follows behind its last line: response times beside service times, streams beside,
/// why a run is void.
[[nodiscard]] std::string to_text(const Report& report, bool with_distribution);

}  // namespace sennit::load
