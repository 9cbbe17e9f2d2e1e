#include "sennit/net/address.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "sennit/base/assert.hpp"

namespace sennit::net {
namespace {

std::unexpected<Error> bad_address(std::string_view text, std::string_view why) {
  return failure(Errc::invalid_argument,
                 "understand the address '" + std::string(text) + "' (" + std::string(why) + ")");
}

Result<std::uint16_t> parse_port(std::string_view text, std::string_view whole) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port > 65535) {
    return bad_address(whole, "the port must be a number from 0 to 65535");
  }
  return static_cast<std::uint16_t>(port);
}

}  // namespace

Address::Address(const void* sockaddr, std::size_t bytes) : size_(bytes) {
  static_assert(sizeof(storage_) >= sizeof(sockaddr_storage));
  SENNIT_ASSERT(bytes <= storage_.size(), bytes);
  std::memcpy(storage_.data(), sockaddr, bytes);
}

Result<Address> Address::from_host(std::string_view host, std::uint16_t port) {
  const std::string terminated(host == "localhost" ? "127.0.0.1" : host);
  sockaddr_in v4{};
  if (terminated.empty() || ::inet_pton(AF_INET, terminated.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    return Address(&v4, sizeof v4);
  }
  sockaddr_in6 v6{};
  if (::inet_pton(AF_INET6, terminated.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    return Address(&v6, sizeof v6);
  }
  return bad_address(host, "not a numeric IPv4 or IPv6 address");
}

Result<Address> Address::parse(std::string_view text) {
  constexpr std::string_view unix_prefix = "unix:";
  if (text.starts_with(unix_prefix)) {
    const std::string_view path = text.substr(unix_prefix.size());
    sockaddr_un local{};
    if (path.empty() || path.size() >= sizeof local.sun_path ||
        path.find('\0') != std::string_view::npos) {
      return bad_address(text, "a Unix socket's path has 1 to 107 bytes");
    }
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path, path.data(), path.size());
    return Address(&local, offsetof(sockaddr_un, sun_path) + path.size() + 1);
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad_address(text, "host:port is expected");
  std::string_view host = text.substr(0, colon);
  SENNIT_TRY(const std::uint16_t port, parse_port(text.substr(colon + 1), text));
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad_address(text, "an IPv6 address needs brackets: [::1]:80");
  }
  return from_host(host, port);
}

Result<Address> Address::local_of(int descriptor) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0) {
    return os_failure(errno, "ask a socket for its address");
  }
  return Address(&storage, size);
}

Result<Address> Address::from_sockaddr(const void* sockaddr, std::size_t bytes) {
  sa_family_t family = AF_UNSPEC;
  if (bytes >= sizeof(::sockaddr)) {
    std::memcpy(&family, static_cast<const char*>(sockaddr) + offsetof(::sockaddr, sa_family),
                sizeof family);
  }
  const bool is_known = (family == AF_INET && bytes == sizeof(sockaddr_in)) ||
                        (family == AF_INET6 && bytes == sizeof(sockaddr_in6)) ||
                        (family == AF_UNIX && bytes <= sizeof(sockaddr_un));
  if (!is_known) return failure(Errc::invalid_argument, "understand a socket address");
  return Address(sockaddr, bytes);
}

Address Address::with_port(std::uint16_t port) const {
  Address changed = *this;
  if (is_unix()) return changed;
  const in_port_t wanted = htons(port);
  std::memcpy(changed.storage_.data() + offsetof(sockaddr_in, sin_port), &wanted, sizeof wanted);
  return changed;
}

bool Address::operator==(const Address& other) const {
  return size_ == other.size_ && std::memcmp(storage_.data(), other.storage_.data(), size_) == 0;
}

int Address::family() const {
  sa_family_t found = 0;
  std::memcpy(&found, storage_.data() + offsetof(sockaddr, sa_family), sizeof found);
  return found;
}

bool Address::is_unix() const { return family() == AF_UNIX; }

std::uint16_t Address::port() const {
  if (is_unix()) return 0;
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  in_port_t found = 0;
  std::memcpy(&found, storage_.data() + offsetof(sockaddr_in, sin_port), sizeof found);
  return ntohs(found);
}

std::string Address::to_string() const {
  if (is_unix()) {
    const char* path = reinterpret_cast<const char*>(storage_.data());
    const std::size_t offset = offsetof(sockaddr_un, sun_path);
    return "unix:" + std::string(path + offset, ::strnlen(path + offset, size_ - offset));
  }
  char host[INET6_ADDRSTRLEN] = {};
  const bool is_v6 = family() == AF_INET6;
  const std::size_t offset =
      is_v6 ? offsetof(sockaddr_in6, sin6_addr) : offsetof(sockaddr_in, sin_addr);
  ::inet_ntop(family(), storage_.data() + offset, host, sizeof host);
  return (is_v6 ? "[" + std::string(host) + "]" : std::string(host)) + ":" + std::to_string(port());
}

}  // namespace sennit::net
