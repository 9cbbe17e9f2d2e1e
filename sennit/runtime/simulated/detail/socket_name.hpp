#pragma once
// SocketName: a sockaddr as the simulated network keeps it, in text.

#include <cstddef>
#include <cstdint>
#include <string>

#include "sennit/base/result.hpp"

namespace sennit::runtime::simulated::detail {

struct SocketName {
  int family = 0;    // AF_INET, AF_INET6 or AF_UNIX.
  std::string host;  // "10.0.0.1", "::1", or the path of a Unix socket.
  std::uint16_t port = 0;

  auto operator<=>(const SocketName&) const = default;
  [[nodiscard]] bool is_unix() const;
  [[nodiscard]] bool is_any() const { return host == "0.0.0.0" || host == "::"; }
  [[nodiscard]] bool is_loopback() const { return host.starts_with("127.") || host == "::1"; }
};

/// Errors: EINVAL for what is too short, EAFNOSUPPORT for another family.
[[nodiscard]] Result<SocketName> name_from_sockaddr(const void* address, std::size_t bytes);
/// Writes a sockaddr; the result is its size. Errors: EINVAL for too little room.
[[nodiscard]] Result<std::size_t> sockaddr_from_name(const SocketName& name, void* address,
                                                     std::size_t room_bytes);

}  // namespace sennit::runtime::simulated::detail
