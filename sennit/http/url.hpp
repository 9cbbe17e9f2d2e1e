#pragma once
// Url: where a request goes (RFC 3986), for http and for HTTP over Unix sockets.
//
//   http://example.org/a?b    http://10.0.0.1:8080/    http://[::1]:8080/
//   http+unix://%2Frun%2Fservice.sock/a?b      the socket's path takes the host's place, encoded
//
// Strict where it matters for what is sent: no spaces, controls or bytes beyond ASCII (encode
// them), no user and password (send an Authorization field), at most 8 KiB.
//
// Thread safety: a value.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"

namespace sennit::http {

class Url {
 public:
  /// Errors: unsupported for https and other schemes, invalid_argument for everything else; the
  /// text says what to do.
  [[nodiscard]] static Result<Url> parse(std::string_view text);
  /// What `reference` (of a Location field) means here (RFC 3986, section 5.2): absolute, without a
  /// scheme, without a host, or a relative path. Its fragment is dropped. Errors as parse(); also
  /// permission_denied for a reference that leads from the network to a Unix socket.
  [[nodiscard]] Result<Url> resolve(std::string_view reference) const;

  /// A name in lower case, a numeric address without brackets, or the socket's path.
  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool is_unix() const { return is_unix_; }
  /// For the request line: path and query, "/" if there is no path.
  [[nodiscard]] const std::string& target() const { return target_; }
  /// For the Host field: brackets around IPv6, the port unless it is 80; "localhost" for a socket.
  [[nodiscard]] const std::string& authority() const { return authority_; }
  /// What connections are shared by: "http://example.org:80", "http+unix://%2Frun%2Fx.sock".
  [[nodiscard]] const std::string& origin() const { return origin_; }
  /// The whole, without a fragment.
  [[nodiscard]] std::string to_string() const;

 private:
  Url() = default;
  [[nodiscard]] Result<void> set_authority(std::string_view authority, std::string_view whole);

  bool is_unix_ = false;
  std::uint16_t port_ = 80;
  std::string host_;
  std::string target_;
  std::string authority_;
  std::string origin_;
};

}  // namespace sennit::http
