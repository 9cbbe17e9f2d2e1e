#pragma once
// The process as the kernel sees it: processor time, memory, descriptors, start, under the names
// that Prometheus's own client libraries use.
//
//   process_cpu_seconds_total       process_open_fds    process_resident_memory_bytes
//   process_start_time_seconds      process_max_fds     process_virtual_memory_bytes
//   process_threads
//
// Nothing is counted while the program works: whoever shows the metrics reads /proc/self, which
// takes some microseconds. What cannot be read there is shown as NaN.
//
// Thread safety: every function from any thread.

#include <cstdint>
#include <optional>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/metrics/registry.hpp"

namespace sennit::metrics {

struct ProcessStats {
  double cpu_s = 0;    // User and system time of all threads.
  double start_s = 0;  // In seconds since 1970.
  double resident_bytes = 0;
  double virtual_bytes = 0;
  double threads = 0;
  double open_fds = 0;
  double max_fds = 0;  // The soft limit; infinite where there is none.
};

/// Errors: what opening the files of /proc says; malformed when they are not as proc(5) has them.
[[nodiscard]] Result<ProcessStats> process_stats();

/// What process_stats() makes of the file /proc/self/stat. Times in it are in ticks of the kernel.
struct ProcStat {
  std::uint64_t cpu_ticks = 0;
  std::uint64_t start_ticks = 0;  // Since the machine was booted.
  std::uint64_t threads = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t resident_pages = 0;
};
/// None when it is not as proc(5) has it. The program's name in it may be anything.
[[nodiscard]] std::optional<ProcStat> parse_proc_stat(std::string_view stat);

/// Shows all of it.
void register_process_metrics(Registry& registry);

}  // namespace sennit::metrics
