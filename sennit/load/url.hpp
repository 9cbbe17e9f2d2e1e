#pragma once
// Url: where requests go. Only http:// and only what a load needs of it.

#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"

namespace sennit::load {

class Url {
 public:
  /// "http://host", "http://10.0.0.1:8080/path?query", "http://[::1]:8080/". A fragment is dropped,
  /// as it is never sent.
  ///
  /// Errors: unsupported for https, invalid_argument for everything else; the text says what to do.
  [[nodiscard]] static Result<Url> parse(std::string_view text);

  /// As it was given.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// A name or a numeric address, without brackets.
  [[nodiscard]] const std::string& host() const { return host_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// For the request line: path and query, "/" if there is no path.
  [[nodiscard]] const std::string& target() const { return target_; }
  /// For the Host field: brackets around IPv6, the port unless it is 80.
  [[nodiscard]] std::string authority() const;

 private:
  Url() = default;

  std::string text_;
  std::string host_;
  std::uint16_t port_ = 80;
  std::string target_ = "/";
};

}  // namespace sennit::load
