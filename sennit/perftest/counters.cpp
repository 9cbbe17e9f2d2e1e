#include "sennit/perftest/counters.hpp"

#include <cstdint>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sennit::perftest {
namespace {

constexpr std::array<std::uint64_t, 3> events = {
    PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_CACHE_MISSES};

int open_counter(std::uint64_t event) {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = event;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::optional<double> read_counter(int descriptor) {
  if (descriptor < 0) return std::nullopt;
  struct {
    std::uint64_t value, enabled_ns, running_ns;
  } read{};
  if (::read(descriptor, &read, sizeof read) != sizeof read || read.running_ns == 0) {
    return std::nullopt;
  }
  return static_cast<double>(read.value) * static_cast<double>(read.enabled_ns) /
         static_cast<double>(read.running_ns);
}

}  // namespace

Result<Counters> Counters::open() {
  std::array<int, 3> descriptors{};
  for (std::size_t i = 0; i < events.size(); ++i) descriptors[i] = open_counter(events[i]);
  const int os_error = errno;
  Counters counters(descriptors);
  if (descriptors[0] < 0 && descriptors[1] < 0) {
    return os_failure(os_error, "open the processor's counters");
  }
  return counters;
}

Counters::Counters(Counters&& other) noexcept : descriptors_(other.descriptors_) {
  other.descriptors_.fill(-1);
}

Counters::~Counters() {
  for (const int descriptor : descriptors_) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void Counters::start() {
  for (const int descriptor : descriptors_) {
    if (descriptor < 0) continue;
    ::ioctl(descriptor, PERF_EVENT_IOC_RESET, 0);
    ::ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0);
  }
}

void Counters::stop() {
  for (const int descriptor : descriptors_) {
    if (descriptor >= 0) ::ioctl(descriptor, PERF_EVENT_IOC_DISABLE, 0);
  }
}

CounterValues Counters::values() const {
  return {.instructions = read_counter(descriptors_[0]),
          .cycles = read_counter(descriptors_[1]),
          .cache_misses = read_counter(descriptors_[2])};
}

}  // namespace sennit::perftest
