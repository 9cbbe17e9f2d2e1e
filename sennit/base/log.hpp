#pragma once
// The log seam: one line per event, on standard error, as `time level message`.
//
// The level comes from the environment variable SENNIT_LOG (trace, debug, info, warning, error or
// off; info unless set) and can be changed while running. Control characters in a message are
// escaped (\n as the two characters \ and n), so that nothing a client sends can forge a line.
//
// Thread safety: every function from any thread.

#include <fmt/core.h>
#include <functional>
#include <string_view>
#include <utility>

namespace sennit::log {

enum class Level : unsigned char { trace, debug, info, warning, error, off };

/// What SENNIT_LOG would have to say; unknown words give `fallback`.
[[nodiscard]] Level level_from_name(std::string_view name, Level fallback);

[[nodiscard]] bool enabled(Level level);
void set_level(Level level);

/// Writes one line if the level is enabled.
void write(Level level, std::string_view message);

/// Sends lines to `sink` instead of standard error; an empty one restores it. For tests and hosts
/// with a log of their own. The sink is called under a lock and must not log.
void set_sink(std::function<void(Level, std::string_view message)> sink);

void write_formatted(Level level, fmt::string_view format, fmt::format_args values);

template <class... T>
void debug(fmt::format_string<T...> format, T&&... values) {
  if (enabled(Level::debug)) {
    write_formatted(Level::debug, format, fmt::make_format_args(values...));
  }
}
template <class... T>
void info(fmt::format_string<T...> format, T&&... values) {
  if (enabled(Level::info)) {
    write_formatted(Level::info, format, fmt::make_format_args(values...));
  }
}
template <class... T>
void warning(fmt::format_string<T...> format, T&&... values) {
  if (enabled(Level::warning)) {
    write_formatted(Level::warning, format, fmt::make_format_args(values...));
  }
}
template <class... T>
void error(fmt::format_string<T...> format, T&&... values) {
  if (enabled(Level::error)) {
    write_formatted(Level::error, format, fmt::make_format_args(values...));
  }
}

}  // namespace sennit::log
