#include "sennit/runtime/simulated/detail/socket_name.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace sennit::runtime::simulated::detail {
namespace {

constexpr std::size_t path_offset = offsetof(sockaddr_un, sun_path);

Result<std::size_t> write(const void* from, std::size_t bytes, void* address,
                          std::size_t room_bytes) {
  if (bytes > room_bytes) return os_failure(EINVAL, "write a socket address");
  std::memcpy(address, from, bytes);
  return bytes;
}

}  // namespace

bool SocketName::is_unix() const { return family == AF_UNIX; }

Result<SocketName> name_from_sockaddr(const void* address, std::size_t bytes) {
  sa_family_t family = 0;
  if (bytes < sizeof family) return os_failure(EINVAL, "read a socket address");
  std::memcpy(&family, address, sizeof family);
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (family == AF_INET && bytes >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    return SocketName{.family = AF_INET, .host = text.data(), .port = ntohs(v4.sin_port)};
  }
  if (family == AF_INET6 && bytes >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return SocketName{.family = AF_INET6, .host = text.data(), .port = ntohs(v6.sin6_port)};
  }
  if (family == AF_UNIX && bytes > path_offset) {
    const char* const path = static_cast<const char*>(address) + path_offset;
    return SocketName{.family = AF_UNIX,
                      .host = std::string(path, ::strnlen(path, bytes - path_offset))};
  }
  return os_failure(
      family == AF_INET || family == AF_INET6 || family == AF_UNIX ? EINVAL : EAFNOSUPPORT,
      "read a socket address");
}

Result<std::size_t> sockaddr_from_name(const SocketName& name, void* address,
                                       std::size_t room_bytes) {
  if (name.family == AF_INET6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(name.port);
    ::inet_pton(AF_INET6, name.host.c_str(), &v6.sin6_addr);
    return write(&v6, sizeof v6, address, room_bytes);
  }
  if (name.is_unix()) {
    sockaddr_un local{};
    local.sun_family = AF_UNIX;
    const std::size_t bytes = std::min(name.host.size(), sizeof local.sun_path - 1);
    std::memcpy(local.sun_path, name.host.data(), bytes);
    return write(&local, path_offset + bytes + 1, address, room_bytes);
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(name.port);
  ::inet_pton(AF_INET, name.host.c_str(), &v4.sin_addr);
  return write(&v4, sizeof v4, address, room_bytes);
}

}  // namespace sennit::runtime::simulated::detail
