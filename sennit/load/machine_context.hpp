#pragma once
// MachineContext: where and when something was measured, which a figure is worth nothing without.

#include <cstdint>
#include <string>

#include "sennit/base/time.hpp"

namespace sennit::load {

struct MachineContext {
  std::string host;
  std::string processor;
  std::string kernel;
  unsigned cpus = 0;             // That this process may use.
  std::uint64_t open_files = 0;  // The limit.
  double load_average = 0;       // Over a minute: what else ran when it was asked.
  std::string time;              // 2024-05-06T07:08:09Z

  /// What cannot be found out stays empty.
  [[nodiscard]] static MachineContext of_this_machine(const Clock& clock);
};

}  // namespace sennit::load
