#include "sennit/base/log.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <string>

namespace sennit::log {
namespace {

struct Seam {
  Seam() {
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    logger->set_level(spdlog::level::trace);  // We filter before.
    logger->flush_on(spdlog::level::trace);
    const char* name = std::getenv("SENNIT_LOG");
    level = level_from_name(name == nullptr ? "" : name, Level::info);
  }

  std::atomic<Level> level;
  std::mutex mutex;
  std::function<void(Level, std::string_view)> sink;
  std::shared_ptr<spdlog::logger> logger =
      std::make_shared<spdlog::logger>("sennit", std::make_shared<spdlog::sinks::stderr_sink_mt>());
};

// The one place of the library with a life of its own. Never destroyed: destructors may log.
Seam& seam() {
  static Seam& only = *new Seam;
  return only;
}

std::string escaped(std::string_view message) {
  std::string text;
  text.reserve(message.size());
  for (const char byte : message) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '\n') {
      text += "\\n";
    } else if (byte == '\r') {
      text += "\\r";
    } else if (byte == '\t') {
      text += "\\t";
    } else if (code < 0x20 || code == 0x7f) {
      text += fmt::format("\\x{:02x}", code);
    } else {
      text += byte;
    }
  }
  return text;
}

}  // namespace

Level level_from_name(std::string_view name, Level fallback) {
  constexpr std::string_view names[] = {"trace", "debug", "info", "warning", "error", "off"};
  for (int i = 0; i <= static_cast<int>(Level::off); ++i) {
    if (name == names[i]) return static_cast<Level>(i);
  }
  return fallback;
}

bool enabled(Level level) {
  // Relaxed, here and in set_level(): the level orders nothing else.
  return level != Level::off && level >= seam().level.load(std::memory_order_relaxed);
}

// Relaxed: see enabled().
void set_level(Level level) { seam().level.store(level, std::memory_order_relaxed); }

void write(Level level, std::string_view message) {
  if (!enabled(level)) return;
  const std::string line = escaped(message);
  const std::lock_guard lock(seam().mutex);
  if (seam().sink) {
    seam().sink(level, line);
  } else {
    seam().logger->log(static_cast<spdlog::level::level_enum>(level), line);
  }
}

void set_sink(std::function<void(Level, std::string_view)> sink) {
  const std::lock_guard lock(seam().mutex);
  seam().sink = std::move(sink);
}

void write_formatted(Level level, fmt::string_view format, fmt::format_args values) {
  write(level, fmt::vformat(format, values));
}

}  // namespace sennit::log
