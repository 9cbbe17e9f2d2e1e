#pragma once
// Numbers with units, as wrk reads and writes them: 1k connections, 2m of time, 1.23ms, 4.56MB.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"

namespace sennit::load {

/// "100", "1k", "2M", "1G": decimal multiples.
/// Errors: invalid_argument, also for 0 and for more than 2^31.
[[nodiscard]] Result<std::uint32_t> parse_count(std::string_view text);

/// "500ms", "30s", "1.5m", "1h"; seconds without a unit.
/// Errors: invalid_argument, also for less than 1 us and for more than 1,000 h.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

/// Two decimals and a unit, moving to the next unit at 85 % of it, as wrk does: "850.00us" is
/// "0.85ms".
[[nodiscard]] std::string format_microseconds(double microseconds);  // us, ms, s, m
[[nodiscard]] std::string format_metric(double value);               // k, M, G, T
[[nodiscard]] std::string format_binary(double bytes);               // K, M, G, T of 1,024

/// Whole seconds, minutes or hours: "30s", "2m".
[[nodiscard]] std::string format_seconds(double seconds);

}  // namespace sennit::load
