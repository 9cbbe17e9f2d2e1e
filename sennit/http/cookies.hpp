#pragma once
// Cookies (RFC 6265bis): those a request brings, and Set-Cookie with all its attributes.
//
//   const std::optional<std::string_view> session = http::cookie(request, "session");
//   http::SetCookie fresh("session", token);
//   fresh.path("/").max_age(24h).secure().http_only().same_site(http::SameSite::strict);
//   if (auto set = http::set_cookie(response, fresh); !set) return failure(set.error());
//
// Thread safety: values, and functions of their arguments.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/http/request.hpp"
#include "sennit/http/response.hpp"

namespace sennit::http {

/// Calls `visit(name, value)` for each pair of a Cookie field's value until it returns false. What
/// is no pair is skipped; quotes around a value are taken off. Views into `field`.
void for_each_cookie(
    std::string_view field,
    const std::function<bool(std::string_view name, std::string_view value)>& visit);

/// The first cookie of that name, which is compared with case. A view into the request.
[[nodiscard]] std::optional<std::string_view> cookie(const Request& request, std::string_view name);

enum class SameSite : std::uint8_t { unspecified, strict, lax, none };

class SetCookie {
 public:
  SetCookie(std::string name, std::string value)
      : name_(std::move(name)), value_(std::move(value)) {}
  /// Tells the client to forget the cookie. Path and domain must be those it was set with.
  [[nodiscard]] static SetCookie removal(std::string name);

  SetCookie& path(std::string path);
  SetCookie& domain(std::string domain);
  SetCookie& max_age(std::chrono::seconds age);
  SetCookie& expires(WallTime time);
  SetCookie& secure(bool on = true);
  SetCookie& http_only(bool on = true);
  SetCookie& partitioned(bool on = true);
  SetCookie& same_site(SameSite same_site);

  /// As the field's value.
  /// Errors: invalid_argument for a name that is no token, for bytes that do not belong into a
  /// value or attribute, and for what browsers drop: SameSite=None or Partitioned without Secure,
  /// __Secure- without Secure, __Host- also without Path=/ or with a domain.
  [[nodiscard]] Result<std::string> to_string() const;

 private:
  [[nodiscard]] const char* complaint() const;
  std::string name_, value_, path_, domain_;
  std::optional<std::chrono::seconds> max_age_;
  std::optional<WallTime> expires_;
  bool secure_ = false, http_only_ = false, partitioned_ = false;
  SameSite same_site_ = SameSite::unspecified;
};

/// Adds a Set-Cookie field; several cookies are several fields. Errors as to_string().
Result<> set_cookie(Response& response, const SetCookie& cookie);

}  // namespace sennit::http
