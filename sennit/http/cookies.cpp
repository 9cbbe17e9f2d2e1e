#include "sennit/http/cookies.hpp"

#include <algorithm>

#include "sennit/http/detail/chars.hpp"
#include "sennit/http/h1/serializer.hpp"

namespace sennit::http {
namespace {

std::string_view trimmed_cookie(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// RFC 6265, 4.1.1: cookie-octet.
bool is_cookie_value(std::string_view value) {
  return std::ranges::all_of(value, [](char c) {
    return c > 0x20 && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
  });
}

bool is_attribute(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c >= 0x20 && c < 0x7f && c != ';'; });
}

}  // namespace

void for_each_cookie(
    std::string_view field,
    const std::function<bool(std::string_view name, std::string_view value)>& visit) {
  while (!field.empty()) {
    const std::size_t end = std::min(field.find(';'), field.size());
    const std::string_view pair = field.substr(0, end);
    field.remove_prefix(std::min(end + 1, field.size()));
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trimmed_cookie(pair.substr(0, equals));
    std::string_view value = trimmed_cookie(pair.substr(equals + 1));
    if (name.empty()) continue;
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    if (!visit(name, value)) return;
  }
}

std::optional<std::string_view> cookie(const Request& request, std::string_view name) {
  std::optional<std::string_view> found;
  for (std::size_t i = 0; i < request.header_count() && !found; ++i) {
    const Header header = request.header_at(i);
    if (!detail::equals_ignoring_case(header.name, "cookie")) continue;
    for_each_cookie(header.value, [&](std::string_view each, std::string_view value) {
      if (each == name) found = value;
      return !found;
    });
  }
  return found;
}

SetCookie SetCookie::removal(std::string name) {
  SetCookie cookie(std::move(name), "");
  cookie.max_age(std::chrono::seconds(0)).expires(WallTime{});
  return cookie;
}

SetCookie& SetCookie::path(std::string path) {
  path_ = std::move(path);
  return *this;
}
SetCookie& SetCookie::domain(std::string domain) {
  domain_ = std::move(domain);
  return *this;
}
SetCookie& SetCookie::max_age(std::chrono::seconds age) {
  max_age_ = age;
  return *this;
}
SetCookie& SetCookie::expires(WallTime time) {
  expires_ = time;
  return *this;
}
SetCookie& SetCookie::secure(bool on) {
  secure_ = on;
  return *this;
}
SetCookie& SetCookie::http_only(bool on) {
  http_only_ = on;
  return *this;
}
SetCookie& SetCookie::partitioned(bool on) {
  partitioned_ = on;
  return *this;
}
SetCookie& SetCookie::same_site(SameSite same_site) {
  same_site_ = same_site;
  return *this;
}

const char* SetCookie::complaint() const {
  if (!is_header_name(name_)) return "its name is no token";
  if (!is_cookie_value(value_)) return "its value needs encoding";
  if (!is_attribute(path_) || !is_attribute(domain_)) return "an attribute has a ; or a control";
  if (same_site_ == SameSite::none && !secure_) return "SameSite=None needs Secure";
  if (partitioned_ && !secure_) return "Partitioned needs Secure";
  if (name_.starts_with("__Secure-") && !secure_) return "__Secure- needs Secure";
  if (name_.starts_with("__Host-") && (!secure_ || path_ != "/" || !domain_.empty())) {
    return "__Host- needs Secure, Path=/ and no Domain";
  }
  return nullptr;
}

Result<std::string> SetCookie::to_string() const {
  if (const char* const why = complaint()) {
    return failure(Errc::invalid_argument, "set cookie " + name_ + ": " + why);
  }
  std::string text = name_ + "=" + value_;
  if (!path_.empty()) text += "; Path=" + path_;
  if (!domain_.empty()) text += "; Domain=" + domain_;
  if (max_age_) text += "; Max-Age=" + std::to_string(max_age_->count());
  if (expires_) text += "; Expires=" + h1::http_date(*expires_);
  if (secure_) text += "; Secure";
  if (http_only_) text += "; HttpOnly";
  if (partitioned_) text += "; Partitioned";
  switch (same_site_) {
    case SameSite::unspecified:
      break;
    case SameSite::strict:
      text += "; SameSite=Strict";
      break;
    case SameSite::lax:
      text += "; SameSite=Lax";
      break;
    case SameSite::none:
      text += "; SameSite=None";
  }
  return text;
}

Result<> set_cookie(Response& response, const SetCookie& cookie) {
  SENNIT_TRY(const std::string value, cookie.to_string());
  return response.headers().add("Set-Cookie", value);
}

}  // namespace sennit::http
