#include "sennit/net/listener.hpp"

#include <cerrno>
#include <cstddef>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace sennit::net {
namespace {

bool set_option(int descriptor, int level, int option, int value) {
  return ::setsockopt(descriptor, level, option, &value, sizeof value) == 0;
}

// A path left behind by a process that has died can be bound again once it is removed; one that
// somebody listens on must stay, and so must a file of another kind.
bool remove_dead_socket(const Address& address) {
  const char* const path = static_cast<const sockaddr_un*>(address.data())->sun_path;
  struct stat found{};
  if (::lstat(path, &found) != 0 || !S_ISSOCK(found.st_mode)) return false;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (probe < 0) return false;
  const int connected = ::connect(probe, static_cast<const sockaddr*>(address.data()),
                                  static_cast<socklen_t>(address.size()));
  const bool is_dead = connected != 0 && errno == ECONNREFUSED;
  ::close(probe);
  return is_dead && ::unlink(path) == 0;
}

bool bind_to(int descriptor, const Address& address) {
  const auto bind_once = [&] {
    return ::bind(descriptor, static_cast<const sockaddr*>(address.data()),
                  static_cast<socklen_t>(address.size())) == 0;
  };
  if (bind_once()) return true;
  return errno == EADDRINUSE && address.is_unix() && remove_dead_socket(address) && bind_once();
}

}  // namespace

Result<int> open_listener(const Address& address, const ListenOptions& options) {
  const std::string doing = "listen on " + address.to_string();
  const int descriptor = ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return os_failure(errno, doing);
  bool is_ready = true;
  if (!address.is_unix()) {
    is_ready = set_option(descriptor, SOL_SOCKET, SO_REUSEADDR, 1);
    // Accepted sockets inherit it: answers leave at once instead of waiting for more.
    is_ready = is_ready && set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
    if (options.reuse_port) {
      is_ready = is_ready && set_option(descriptor, SOL_SOCKET, SO_REUSEPORT, 1);
    }
  }
  if (!is_ready || !bind_to(descriptor, address) || ::listen(descriptor, options.backlog) != 0) {
    const int os_error = errno;
    ::close(descriptor);
    return os_failure(os_error, doing);
  }
  return descriptor;
}

// A filter on the socket sees TCP headers; it drops those with SYN set and passes the rest, so that
// handshakes which have begun end well. Attempts dropped here are retried by the peer's kernel a
// second later, and find the next owner of the port, or a refusal.
Result<void> refuse_new_connections(int listener) {
  int domain = 0;
  socklen_t size = sizeof domain;
  if (::getsockopt(listener, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0) {
    return os_failure(errno, "ask a socket for its domain");
  }
  if (domain != AF_INET && domain != AF_INET6) return {};
  constexpr unsigned flags_offset = 13, syn = 0x02;
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, flags_offset),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, syn, 0, 1), BPF_STMT(BPF_RET | BPF_K, 0),  // Drop.
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),  // Keep all of it.
  };
  const sock_fprog program{.len = sizeof instructions / sizeof instructions[0],
                           .filter = instructions};
  if (::setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    return os_failure(errno, "refuse new connections");
  }
  return {};
}

Result<int> open_listener(runtime::io::Backend& backend, const Address& address,
                          const ListenOptions& options) {
  runtime::io::SocketSource* const sockets = backend.sockets();
  if (sockets == nullptr) return open_listener(address, options);
  auto opened =
      sockets->listen(address.data(), address.size(), options.backlog, options.reuse_port);
  if (opened) return *opened;
  return os_failure(opened.error().os_error(), "listen on " + address.to_string());
}

Result<void> refuse_new_connections(runtime::io::Backend& backend, int listener) {
  runtime::io::SocketSource* const sockets = backend.sockets();
  if (sockets == nullptr) return refuse_new_connections(listener);
  sockets->refuse_new_connections(listener);
  return {};
}

Result<int> open_stream(runtime::io::Backend& backend, int family) {
  if (runtime::io::SocketSource* const sockets = backend.sockets()) return sockets->open(family);
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return os_failure(errno, "open a socket");
  if (family != AF_UNIX) set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  return descriptor;
}

Result<Address> local_address(runtime::io::Backend& backend, int descriptor) {
  runtime::io::SocketSource* const sockets = backend.sockets();
  if (sockets == nullptr) return Address::local_of(descriptor);
  sockaddr_storage storage{};
  SENNIT_TRY(const std::size_t bytes, sockets->local_address(descriptor, &storage, sizeof storage));
  return Address::from_sockaddr(&storage, bytes);
}

void discard(runtime::io::Backend& backend, int descriptor) {
  if (runtime::io::SocketSource* const sockets = backend.sockets()) {
    sockets->discard(descriptor);
  } else {
    ::close(descriptor);
  }
}

}  // namespace sennit::net
