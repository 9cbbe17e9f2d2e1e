#include "sennit/net/inherited.hpp"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace sennit::net {
namespace {

constexpr int inherited_max = 1024;

int option_of(int descriptor, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool is_listener(int descriptor) {
  return option_of(descriptor, SO_TYPE) == SOCK_STREAM && option_of(descriptor, SO_ACCEPTCONN) == 1;
}

// Nothing if it is not set; -1 if it is no number.
long number_in(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return 0;
  const std::string_view digits = text;
  long number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() && end == digits.data() + digits.size() && number >= 0 ? number : -1;
}

}  // namespace

Result<std::vector<int>> inherited_listeners(int first) {
  std::vector<int> found;
  if (number_in("LISTEN_PID") != ::getpid()) return found;
  const long count = number_in("LISTEN_FDS");
  if (count < 0 || count > inherited_max) {
    return failure(Errc::invalid_argument, "read LISTEN_FDS as a count");
  }
  for (int descriptor = first; descriptor < first + count; ++descriptor) {
    if (!is_listener(descriptor)) {
      return failure(Errc::invalid_argument, "serve inherited descriptor " +
                                                 std::to_string(descriptor) +
                                                 ", which is no listening socket");
    }
    found.push_back(descriptor);
  }
  return found;
}

Result<int> duplicate_listener(int descriptor) {
  const std::string doing = "serve the listening socket " + std::to_string(descriptor);
  if (!is_listener(descriptor)) return failure(Errc::invalid_argument, doing);
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return os_failure(errno, doing);
  const int unused = 0;
  if (::setsockopt(own, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused) != 0 &&
      errno != ENOENT) {  // There was none, as there should be.
    const int os_error = errno;
    ::close(own);
    return os_failure(os_error, doing);
  }
  return own;
}

}  // namespace sennit::net
