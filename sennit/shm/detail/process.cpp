#include "sennit/shm/detail/process.hpp"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sennit::shm::detail {
namespace {

struct Stat {
  bool is_there = false;
  char state = '?';
  std::uint64_t thread_count = 0;
  std::uint64_t started = 0;
};

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The fields after the name, which is in parentheses and may contain anything (proc(5)).
Stat parse_stat(std::string_view text) {
  Stat stat;
  const std::size_t name_end = text.rfind(')');
  if (name_end == text.npos) return stat;
  text.remove_prefix(name_end + 1);
  for (int field = 3; field <= 22 && !text.empty(); ++field) {
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find(' '));
    if (field == 3 && !word.empty()) stat.state = word[0];
    if (field == 20) stat.thread_count = number(word);
    if (field == 22) {
      stat.started = number(word);
      stat.is_there = true;
    }
    text.remove_prefix(word.size());
  }
  return stat;
}

Stat stat_of(int pid) {
  const int fd = ::open(fmt::format("/proc/{}/stat", pid).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  char text[1024];
  const ssize_t got = ::read(fd, text, sizeof(text));
  ::close(fd);
  return parse_stat(std::string_view(text, got > 0 ? static_cast<std::size_t>(got) : 0));
}

constexpr std::uint64_t start_mask = (std::uint64_t{1} << start_bits) - 1;

std::uint64_t namespace_hash() {
  const std::uint64_t id = own_pid_namespace();
  return id == 0 ? 0 : id % 4095 + 1;
}

}  // namespace

bool is_of_own_namespace(std::uint64_t process) {
  return process >> (pid_bits + start_bits) == namespace_hash();
}

std::uint64_t own_process() {
  const int pid = ::getpid();
  return static_cast<std::uint64_t>(pid) | (stat_of(pid).started & start_mask) << pid_bits |
         namespace_hash() << (pid_bits + start_bits);
}

std::uint64_t own_pid_namespace() {
  struct stat status{};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

bool may_be_alive(std::uint64_t process) {
  const int pid = pid_of(process);
  const std::uint64_t started = process >> pid_bits & start_mask;
  if (pid == 0) return false;
  if (::kill(pid, 0) != 0 && errno == ESRCH) return false;
  const Stat stat = stat_of(pid);
  if (!stat.is_there) return true;  // No /proc, or hidden: nothing is certain.
  // The first thread of a process may have ended while others run on.
  const bool has_ended = (stat.state == 'Z' || stat.state == 'X') && stat.thread_count <= 1;
  return !has_ended && (started == 0 || (stat.started & start_mask) == started);
}

}  // namespace sennit::shm::detail
