#pragma once
// The flags of a program of performance tests.
//
// Thread safety: pure functions.

#include <optional>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/perftest/options.hpp"

namespace sennit::perftest {

/// What the command line asks for. It overrides what tests ask for.
struct Flags {
  std::optional<double> hz;
  std::optional<int> time_ms;
  std::optional<int> threads;
  std::optional<int> fibers;
  int warm_up_ms = 100;
  int repetitions = 5;
  bool latency = false;
  bool counters = true;
  bool inconclusive_fails = false;
  double threshold_percent = 5;  // Slower by less than this is no regression.
  std::string json;              // A file to write.
  std::string baseline;          // A directory to compare with.
  std::string save_baseline;     // A directory to write to.
  bool help = false;
};

/// Takes our flags out of the arguments and leaves the others, such as GoogleTest's, in place.
/// Each is -name=value, --name=value, or -name value; switches need no value.
///
/// Errors: invalid_argument, saying which flag.
[[nodiscard]] Result<Flags> parse_flags(int& argc, char** argv);

/// For --help, a line per flag.
[[nodiscard]] std::string_view flags_help();

/// How a test really runs.
[[nodiscard]] Settings settle(const Options& options, const Flags& flags);

}  // namespace sennit::perftest
