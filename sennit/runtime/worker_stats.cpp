#include "sennit/runtime/worker_stats.hpp"

#include <sys/resource.h>

namespace sennit::runtime {

Duration thread_cpu_time() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto time = [](const timeval& value) {
    return std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec);
  };
  return time(usage.ru_utime) + time(usage.ru_stime);
}

}  // namespace sennit::runtime
