#include "sennit/metrics/process.hpp"

#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace sennit::metrics {
namespace {

constexpr std::size_t file_bytes_max = 64 * 1024;

// Files of /proc have no size; they are read until they end.
Result<std::string> read_file(const char* path) {
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return os_failure(errno, std::string("open ") + path);
  std::string text;
  char part[4096];
  ssize_t bytes = 0;
  do {
    bytes = ::read(descriptor, part, sizeof part);
    if (bytes > 0) text.append(part, static_cast<std::size_t>(bytes));
  } while ((bytes > 0 && text.size() < file_bytes_max) || (bytes < 0 && errno == EINTR));
  const int os_error = errno;
  ::close(descriptor);
  if (bytes < 0) return os_failure(os_error, std::string("read ") + path);
  return text;
}

// The n-th word of a line, from 0.
std::string_view word_of(std::string_view line, std::size_t n) {
  for (; n > 0; --n) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return {};
    line.remove_prefix(space + 1);
  }
  return line.substr(0, line.find_first_of(" \n"));
}

std::optional<std::uint64_t> integer_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) return {};
  return number;
}

// In seconds since 1970, from the line "btime N" of /proc/stat.
Result<double> boot_time() {
  SENNIT_TRY(const std::string stat, read_file("/proc/stat"));
  const std::string_view key = "\nbtime ";
  const std::size_t at = stat.find(key);
  const auto seconds = at == std::string::npos
                           ? std::nullopt
                           : integer_in(word_of(std::string_view(stat).substr(at + 1), 1));
  if (!seconds) return failure(Errc::malformed, "find the boot time in /proc/stat");
  return static_cast<double>(*seconds);
}

Result<double> open_fd_count() {
  struct Close {
    void operator()(DIR* directory) const { ::closedir(directory); }
  };
  const std::unique_ptr<DIR, Close> directory(::opendir("/proc/self/fd"));
  if (!directory) return os_failure(errno, "list /proc/self/fd");
  double count = -1;  // Without the one that lists them.
  while (const dirent* const entry = ::readdir(directory.get())) count += entry->d_name[0] != '.';
  return count;
}

double fd_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<double>::quiet_NaN();
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<double>::infinity()
                                         : static_cast<double>(limit.rlim_cur);
}

}  // namespace

std::optional<ProcStat> parse_proc_stat(std::string_view stat) {
  // "pid (name) state ppid ...": the name may hold spaces and parentheses, so the last one counts.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 > stat.size()) return std::nullopt;
  const std::string_view rest = stat.substr(name_end + 2);
  const auto field = [&](std::size_t number) { return integer_in(word_of(rest, number - 3)); };
  const auto user = field(14), system = field(15), threads = field(20), start = field(22);
  const auto virtual_bytes = field(23), resident_pages = field(24);
  if (!user || !system || !threads || !start || !virtual_bytes || !resident_pages) return {};
  return ProcStat{.cpu_ticks = *user + *system,
                  .start_ticks = *start,
                  .threads = *threads,
                  .virtual_bytes = *virtual_bytes,
                  .resident_pages = *resident_pages};
}

Result<ProcessStats> process_stats() {
  SENNIT_TRY(const std::string text, read_file("/proc/self/stat"));
  const std::optional<ProcStat> stat = parse_proc_stat(text);
  if (!stat) return failure(Errc::malformed, "understand /proc/self/stat");
  SENNIT_TRY(const double boot_s, boot_time());
  SENNIT_TRY(const double open_fds, open_fd_count());
  const auto ticks_per_second = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return ProcessStats{.cpu_s = static_cast<double>(stat->cpu_ticks) / ticks_per_second,
                      .start_s = boot_s + static_cast<double>(stat->start_ticks) / ticks_per_second,
                      .resident_bytes = static_cast<double>(stat->resident_pages) * page_bytes,
                      .virtual_bytes = static_cast<double>(stat->virtual_bytes),
                      .threads = static_cast<double>(stat->threads),
                      .open_fds = open_fds,
                      .max_fds = fd_limit()};
}

void register_process_metrics(Registry& registry) {
  // Each reads on its own: a scrape asks for seven, and there is nothing to keep in between.
  const auto shown = [](double ProcessStats::* member) {
    return [member] {
      const Result<ProcessStats> stats = process_stats();
      return stats ? (*stats).*member : std::numeric_limits<double>::quiet_NaN();
    };
  };
  registry.counter_from("process_cpu_seconds_total", "Processor time, user and system.",
                        shown(&ProcessStats::cpu_s));
  registry.gauge_from("process_start_time_seconds", "When the process began, since 1970.",
                      shown(&ProcessStats::start_s));
  registry.gauge_from("process_resident_memory_bytes", "Memory that is held.",
                      shown(&ProcessStats::resident_bytes));
  registry.gauge_from("process_virtual_memory_bytes", "Addresses that are taken.",
                      shown(&ProcessStats::virtual_bytes));
  registry.gauge_from("process_threads", "Threads.", shown(&ProcessStats::threads));
  registry.gauge_from("process_open_fds", "Descriptors open.", shown(&ProcessStats::open_fds));
  registry.gauge_from("process_max_fds", "The most descriptors that may be open.",
                      shown(&ProcessStats::max_fds));
}

}  // namespace sennit::metrics
