#include "sennit/load/machine_context.hpp"

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sched.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/utsname.h>

namespace sennit::load {
namespace {

/// The value of the first line that begins with `key`, as /proc/cpuinfo has them.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!std::string_view(line).starts_with("model name")) continue;
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? std::string() : line.substr(colon + 2);
  }
  return {};
}

double load_of_last_minute() {
  double averages[1] = {};
  return ::getloadavg(averages, 1) == 1 ? averages[0] : 0;
}

std::string utc_text(WallTime time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm parts{};
  std::array<char, 32> text{};
  if (::gmtime_r(&seconds, &parts) == nullptr) return {};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

MachineContext MachineContext::of_this_machine(const Clock& clock) {
  MachineContext context;
  utsname names{};
  if (::uname(&names) == 0) {
    context.host = names.nodename;
    context.kernel = std::string(names.sysname) + " " + names.release + " " + names.machine;
  }
  context.processor = processor_name();
  cpu_set_t usable;
  if (::sched_getaffinity(0, sizeof usable, &usable) == 0) {
    context.cpus = static_cast<unsigned>(CPU_COUNT(&usable));
  }
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) context.open_files = files.rlim_cur;
  context.load_average = load_of_last_minute();
  context.time = utc_text(clock.wall_now());
  return context;
}

}  // namespace sennit::load
