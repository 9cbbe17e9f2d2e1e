#include "sennit/perftest/machine.hpp"

#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <thread>

namespace sennit::perftest {
namespace {

constexpr std::string_view architecture =
#if defined(__x86_64__)
    "x86-64";
#elif defined(__aarch64__)
    "aarch64";
#else
    "unknown";
#endif

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string build() {
#if defined(__OPTIMIZE__)
  std::string text = "optimized";
#else
  std::string text = "debug";
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  text += "+sanitizers";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  text += "+sanitizers";
#endif
#endif
  return text;
}

}  // namespace

std::string processor_in(std::string_view cpuinfo) {
  constexpr std::string_view key = "model name";
  const std::size_t at = cpuinfo.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view line = cpuinfo.substr(at + key.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(" \t:"), line.size()));
  line.remove_suffix(line.size() - (line.find_last_not_of(" \t\r") + 1));
  return std::string(line);
}

Machine this_machine() {
  std::ifstream file("/proc/cpuinfo");
  const std::string cpuinfo{std::istreambuf_iterator<char>(file), {}};
  Machine machine{.processor = processor_in(cpuinfo),
                  .cores = std::thread::hardware_concurrency(),
                  .compiler = compiler(),
                  .build = build()};
  if (machine.processor.empty()) machine.processor = architecture;
  return machine;
}

std::string Machine::machine_class() const {
  const std::string text = fmt::format("{} {} cores {} {}", processor, cores, compiler, build);
  std::string word;
  for (const char c : text) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool kept = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (kept) {
      word += static_cast<char>(upper ? c - 'A' + 'a' : c);
    } else if (!word.empty() && word.back() != '-') {
      word += '-';
    }
  }
  if (word.ends_with('-')) word.pop_back();
  return word;
}

}  // namespace sennit::perftest
