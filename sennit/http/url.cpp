#include "sennit/http/url.hpp"

#include <algorithm>
#include <charconv>

#include "sennit/http/detail/chars.hpp"
#include "sennit/http/percent.hpp"

namespace sennit::http {
namespace {

constexpr std::size_t url_bytes_max = std::size_t{8} * 1024;
constexpr std::size_t socket_path_max = 107;
constexpr std::string_view tcp_scheme = "http", unix_scheme = "http+unix";

std::unexpected<Error> bad_url(std::string_view text, std::string_view why) {
  constexpr std::size_t shown_max = 200;
  return failure(Errc::invalid_argument, "understand the URL '" +
                                             std::string(text.substr(0, shown_max)) + "' (" +
                                             std::string(why) + ")");
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = detail::to_lower(c);
  return result;
}

// RFC 3986, 3.1. Empty if there is no scheme.
std::string_view scheme_of(std::string_view text) {
  const std::size_t end = text.find_first_of(":/?#");
  if (end == std::string_view::npos || text[end] != ':' || end == 0) return {};
  const std::string_view scheme = text.substr(0, end);
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  };
  return std::ranges::all_of(scheme, fits) ? scheme : std::string_view();
}

// RFC 3986, 5.2.4, of a path that begins with a slash. ".." never leads above the root.
std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    const bool is_last = path.empty();
    if (segment == "/.") {
      if (is_last) out += '/';
    } else if (segment == "/..") {
      out.resize(out.empty() ? 0 : out.rfind('/'));
      if (is_last) out += '/';
    } else {
      out += segment;
    }
  }
  return out.empty() ? "/" : out;
}

Result<void> check_text(std::string_view text) {
  if (text.size() > url_bytes_max) return bad_url(text, "at most 8 KiB");
  for (const char c : text) {
    if (!detail::is(c, detail::target_char) && c != '#') {
      return bad_url(text, "spaces and what is not ASCII must be percent-encoded");
    }
  }
  return {};
}

std::string target_of(std::string_view path_and_query) {
  if (path_and_query.starts_with('/')) return std::string(path_and_query);
  return "/" + std::string(path_and_query);
}

}  // namespace

Result<void> Url::set_authority(std::string_view authority, std::string_view whole) {
  if (authority.find('@') != std::string_view::npos) {
    return bad_url(whole, "a user and password go into an Authorization field");
  }
  if (is_unix_) {
    append_percent_decoded(host_, authority);
    if (host_.empty() || host_.size() > socket_path_max || host_.find('\0') != std::string::npos) {
      return bad_url(whole, "the path of a socket has 1 to 107 bytes");
    }
    authority_ = "localhost";
    origin_ = "http+unix://";
    append_percent_encoded(origin_, host_);
    port_ = 0;
    return {};
  }
  const bool has_bracket = authority.starts_with('[');
  const std::size_t host_end = has_bracket ? authority.find(']') + 1  // 0 if it is missing.
                                           : std::min(authority.find(':'), authority.size());
  std::string_view host = authority.substr(0, host_end);
  std::string_view port = authority.substr(host_end);
  if (has_bracket && host.size() > 2) host = host.substr(1, host.size() - 2);
  const auto fits = [has_bracket](char c) {
    return detail::is(c, detail::token_char) ? detail::is(c, detail::host_char) && c != '%'
                                             : has_bracket && c == ':';
  };
  if (host.empty() || host == "[" || !std::ranges::all_of(host, fits)) {
    return bad_url(whole, "a host is expected after http://, an IPv6 address in brackets");
  }
  host_ = lower(host);
  if (!port.empty() && port != ":") {
    unsigned number = 0;
    port.remove_prefix(port.front() == ':' ? 1 : port.size());
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535) {
      return bad_url(whole, "the port must be a number from 1 to 65535");
    }
    port_ = static_cast<std::uint16_t>(number);
  }
  authority_ = has_bracket ? "[" + host_ + "]" : host_;
  origin_ = "http://" + authority_ + ":" + std::to_string(port_);
  if (port_ != 80) authority_ += ":" + std::to_string(port_);
  return {};
}

Result<Url> Url::parse(std::string_view text) {
  if (auto checked = check_text(text); !checked) return failure(std::move(checked).error());
  const std::string scheme = lower(scheme_of(text));
  if (scheme == "https") {
    return failure(Errc::unsupported, "ask '" + std::string(text) + "' (TLS is not built in)");
  }
  const std::string_view rest = text.substr(std::min(scheme.size() + 1, text.size()));
  if (scheme.empty() || !rest.starts_with("//")) {
    return bad_url(text, "it has to begin with http:// or http+unix://");
  }
  if (scheme != tcp_scheme && scheme != unix_scheme) {
    return failure(Errc::unsupported, "ask '" + std::string(text) + "' (only http is known)");
  }
  Url url;
  url.is_unix_ = scheme == unix_scheme;
  std::string_view hierarchical = rest.substr(2);
  hierarchical = hierarchical.substr(0, hierarchical.find('#'));
  const std::string_view authority = hierarchical.substr(0, hierarchical.find_first_of("/?"));
  if (auto set = url.set_authority(authority, text); !set) return failure(std::move(set).error());
  url.target_ = target_of(hierarchical.substr(authority.size()));
  return url;
}

Result<Url> Url::resolve(std::string_view reference) const {
  if (auto checked = check_text(reference); !checked) return failure(std::move(checked).error());
  if (!scheme_of(reference).empty()) {
    SENNIT_TRY(Url url, parse(reference));
    if (url.is_unix_ && origin_ != url.origin_) {
      return failure(Errc::permission_denied, "follow '" + std::string(reference) + "'");
    }
    return url;
  }
  reference = reference.substr(0, reference.find('#'));
  if (reference.starts_with("//")) return parse("http:" + std::string(reference));
  Url url = *this;
  if (reference.empty()) return url;
  const std::string_view old_path = std::string_view(target_).substr(0, target_.find('?'));
  const std::string_view path = reference.substr(0, reference.find('?'));
  const std::string_view query = reference.substr(path.size());
  if (path.empty()) {
    url.target_ = std::string(old_path) + std::string(query);
  } else if (path.starts_with('/')) {
    url.target_ = without_dots(path) + std::string(query);
  } else {
    const std::string merged =
        std::string(old_path.substr(0, old_path.rfind('/') + 1)) + std::string(path);
    url.target_ = without_dots(merged) + std::string(query);
  }
  if (url.target_.size() > url_bytes_max) return bad_url(url.target_, "at most 8 KiB");
  return url;
}

std::string Url::to_string() const {
  return (is_unix_ ? origin_ : "http://" + authority_) + target_;
}

}  // namespace sennit::http
