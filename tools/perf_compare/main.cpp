// perf_compare OLD.json NEW.json: what got slower between two runs of performance tests.

#include <charconv>
#include <fmt/core.h>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/perftest/compare.hpp"
#include "sennit/perftest/report.hpp"

namespace {

constexpr std::string_view usage =
    "perf_compare [--threshold=PERCENT] OLD.json NEW.json\n"
    "\n"
    "Compares two reports that perf_* programs wrote with --json. A test counts as slower or "
    "faster\n"
    "when its time changed by more than the threshold (5 unless set) with 95 % confidence.\n"
    "\n"
    "Exit status: 0 nothing got slower, 1 something did, 2 a file could not be read.\n";

struct Arguments {
  double threshold_percent = 5;
  std::vector<std::string> files;
  bool valid = true;
};

Arguments arguments_in(int argc, char** argv) {
  constexpr std::string_view threshold = "--threshold=";
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (word.starts_with(threshold)) {
      word.remove_prefix(threshold.size());
      const char* const end = word.data() + word.size();
      const auto [stop, error] = std::from_chars(word.data(), end, arguments.threshold_percent);
      arguments.valid &= error == std::errc() && stop == end && arguments.threshold_percent >= 0;
    } else if (word.starts_with('-')) {
      arguments.valid = false;
    } else {
      arguments.files.emplace_back(word);
    }
  }
  arguments.valid &= arguments.files.size() == 2;
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  using sennit::perftest::Comparison;
  using sennit::perftest::read_report;
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    fmt::print("{}", usage);
    return 0;
  }
  const Arguments arguments = arguments_in(argc, argv);
  if (!arguments.valid) {
    fmt::print(stderr, "{}", usage);
    return 2;
  }
  const auto before = read_report(arguments.files[0]);
  const auto after = read_report(arguments.files[1]);
  for (const auto* const report : {&before, &after}) {
    if (*report) continue;
    fmt::print(stderr, "perf_compare: could not {}\n", report->error().to_string());
    return 2;
  }
  const Comparison comparison =
      sennit::perftest::compare(*before, *after, arguments.threshold_percent);
  fmt::print("{}", sennit::perftest::describe(comparison));
  return comparison.has_regression() ? 1 : 0;
}
