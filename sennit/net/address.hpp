#pragma once
// Address: where a socket listens or connects to; an IPv4 or IPv6 address with a port, or the path
// of a Unix socket. A value of fixed size.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"

namespace sennit::net {

class Address {
 public:
  /// "127.0.0.1:80", "[::1]:80", ":80" (every address), "localhost:80", "unix:/run/service.sock".
  /// Names other than localhost are for a resolver.
  ///
  /// Errors: invalid_argument, which says what was wrong with it.
  [[nodiscard]] static Result<Address> parse(std::string_view text);
  /// A numeric host and a port.
  [[nodiscard]] static Result<Address> from_host(std::string_view host, std::uint16_t port);
  /// A sockaddr of one of the three families.
  /// Errors: invalid_argument for anything else.
  [[nodiscard]] static Result<Address> from_sockaddr(const void* sockaddr, std::size_t bytes);
  /// Of a socket: its own, or its peer's.
  [[nodiscard]] static Result<Address> local_of(int descriptor);

  /// Can be given to parse() again.
  [[nodiscard]] std::string to_string() const;
  /// 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const;
  /// The same with another port; a Unix address as it is.
  [[nodiscard]] Address with_port(std::uint16_t port) const;
  [[nodiscard]] bool is_unix() const;
  /// AF_INET, AF_INET6 or AF_UNIX.
  [[nodiscard]] int family() const;

  [[nodiscard]] bool operator==(const Address& other) const;

  /// The sockaddr, for system calls.
  [[nodiscard]] const void* data() const { return storage_.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  Address(const void* sockaddr, std::size_t bytes);

  alignas(8) std::array<std::byte, 128> storage_{};  // As large as sockaddr_storage.
  std::size_t size_ = 0;
};

}  // namespace sennit::net
