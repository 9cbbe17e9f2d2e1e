#pragma once
// What kind of machine a number was measured on, and with what build: numbers compare within one.
//
// Thread safety: pure functions.

#include <string>
#include <string_view>

namespace sennit::perftest {

struct Machine {
  std::string processor;  // "AMD EPYC", or the architecture where the kernel names no model.
  unsigned cores = 0;
  std::string compiler;  // "gcc 12.2.0"
  std::string build;     // "optimized", "debug", or either with "+sanitizers".

  /// All of them in one word that can name a file: "amd-epyc-2-cores-gcc-12-2-0-optimized".
  [[nodiscard]] std::string machine_class() const;
};

/// This machine, and the build of this library.
[[nodiscard]] Machine this_machine();

/// From the text of /proc/cpuinfo; empty where it names no model.
[[nodiscard]] std::string processor_in(std::string_view cpuinfo);

}  // namespace sennit::perftest
