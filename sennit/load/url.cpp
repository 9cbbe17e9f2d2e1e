#include "sennit/load/url.hpp"

#include <algorithm>
#include <charconv>

namespace sennit::load {
namespace {

constexpr std::string_view scheme = "http://";
constexpr std::uint16_t default_port = 80;

std::unexpected<Error> bad_url(std::string_view text, std::string_view why) {
  return failure(Errc::invalid_argument,
                 "understand the URL '" + std::string(text) + "' (" + std::string(why) + ")");
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  return text.size() >= lower.size() &&
         std::ranges::equal(text.substr(0, lower.size()), lower,
                            [](char a, char b) { return (a | 0x20) == (b | 0x20); });
}

bool is_sendable(char c) { return c > ' ' && c < 0x7f; }

bool is_host_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_' || c == ':';  // The last one in brackets only.
}

/// Digits from 1 to 65535; 0 for everything else.
std::uint16_t port_of(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && port <= 65535 ? static_cast<std::uint16_t>(port) : 0;
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  if (starts_with_ignoring_case(text, "https://")) {
    return failure(Errc::unsupported,
                   "load '" + std::string(text) + "' (TLS is not built in: use an http:// URL)");
  }
  if (!starts_with_ignoring_case(text, scheme)) {
    return bad_url(text, "it has to begin with http://");
  }
  if (!std::ranges::all_of(text, is_sendable)) {
    return bad_url(text, "spaces and what is not ASCII must be percent-encoded");
  }
  Url url;
  url.text_ = text;
  std::string_view rest = text.substr(scheme.size());
  rest = rest.substr(0, rest.find('#'));
  std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  const std::string_view target = rest.substr(authority.size());
  url.target_ = target.starts_with('/') ? target : "/" + std::string(target);

  if (authority.find('@') != std::string_view::npos) {
    return bad_url(text, "a user and password are sent with -H 'Authorization: ...'");
  }
  const std::size_t host_end = authority.starts_with('[')
                                   ? authority.find(']') + 1  // 0 if it is missing.
                                   : std::min(authority.find(':'), authority.size());
  std::string_view host = authority.substr(0, host_end);
  const std::string_view port = authority.substr(host_end);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  if (host.empty() || !std::ranges::all_of(host, is_host_char)) {
    return bad_url(text, "a host is expected after http://, an IPv6 address in brackets");
  }
  if (!port.empty()) {
    url.port_ = port.starts_with(':') ? port_of(port.substr(1)) : 0;
    if (url.port_ == 0) return bad_url(text, "the port must be a number from 1 to 65535");
  }
  url.host_ = host;
  return url;
}

std::string Url::authority() const {
  const bool is_v6 = host_.find(':') != std::string::npos;
  std::string authority = is_v6 ? "[" + host_ + "]" : host_;
  if (port_ != default_port) authority += ":" + std::to_string(port_);
  return authority;
}

}  // namespace sennit::load
