#include "sennit/http/h1/parser.hpp"

#include <algorithm>
#include <cstring>

#include "sennit/http/detail/scan.hpp"
#include "sennit/http/h1/detail/fields.hpp"

namespace sennit::http::h1 {
namespace {

using namespace http::detail;
using detail::bad;
using detail::complete;
using detail::partial;

constexpr std::ptrdiff_t method_bytes_max = 32;  // Longer than any method we could implement: 501.

Span span(const char* base, const char* begin, const char* end) {
  return {static_cast<std::uint32_t>(begin - base), static_cast<std::uint32_t>(end - begin)};
}

/// One empty line before the request line is skipped (RFC 9112, section 2.2), a second is an error.
ParseOutcome skip_empty_line(const char*& at, const char* end) {
  if (at == end) return partial;
  if (*at != '\r') return complete;
  if (end - at < 2) return partial;
  if (at[1] != '\n') return bad("carriage return without line feed");
  at += 2;
  if (at == end) return partial;
  return complete;
}

ParseOutcome parse_method(const char* base, const char*& at, const char* end, RequestHead& head) {
  if (end - at >= 4 && std::memcmp(at, "GET ", 4) == 0) {
    head.method = Method::get;
    head.method_name = span(base, at, at + 3);
    at += 4;
    return complete;
  }
  const char* const method_end =
      find_end_of(token_char, at, std::min(end, at + method_bytes_max + 1));
  if (method_end - at > method_bytes_max) return bad("method too long", 501);
  if (method_end == end) return partial;
  if (*method_end != ' ' || method_end == at) return bad("malformed method");
  head.method = method_from_string({at, static_cast<std::size_t>(method_end - at)});
  head.method_name = span(base, at, method_end);
  at = method_end + 1;
  return complete;
}

ParseOutcome parse_target(const char* base, const char*& at, const char* end, const Limits& limits,
                          RequestHead& head) {
  const std::size_t available = static_cast<std::size_t>(end - at);
  const bool limited = available > limits.uri_bytes_max;
  const char* const window_end = limited ? at + limits.uri_bytes_max + 1 : end;
  const char* const target_end = find_target_end(at, window_end);
  if (static_cast<std::size_t>(target_end - at) > limits.uri_bytes_max) {
    return bad("request target too long", 414);
  }
  if (target_end == end) return partial;
  if (*target_end != ' ' || target_end == at) return bad("malformed request target");
  head.target = span(base, at, target_end);
  at = target_end + 1;
  return complete;
}

ParseOutcome parse_request_line_end(const char*& at, const char* end, RequestHead& head) {
  if (end - at >= 10 && std::memcmp(at, "HTTP/1.1\r\n", 10) == 0) {
    head.minor_version = 1;
    at += 10;
    return complete;
  }
  const ParseOutcome version = detail::parse_version(at, end, head.minor_version);
  if (version.status != ParseStatus::complete) return version;
  at += detail::version_bytes;
  if (at == end) return partial;
  if (*at != '\r') return bad("bytes after the protocol version");
  if (end - at < 2) return partial;
  if (at[1] != '\n') return bad("carriage return without line feed");
  at += 2;
  return complete;
}

void split_at_query(const char* base, const char* begin, const char* end, RequestHead& head) {
  const auto* const mark =
      static_cast<const char*>(std::memchr(begin, '?', static_cast<std::size_t>(end - begin)));
  head.path = span(base, begin, mark == nullptr ? end : mark);
  head.query = mark == nullptr ? span(base, end, end) : span(base, mark + 1, end);
}

/// `http://host:port/path?query`, as clients of a proxy send it.
ParseOutcome split_absolute_target(const char* base, RequestHead& head) {
  const std::string_view target = head.target.in(base);
  const std::size_t scheme_bytes = target.find("://");
  if (scheme_bytes == std::string_view::npos) return bad("malformed request target");
  const std::string_view scheme = target.substr(0, scheme_bytes);
  if (!equals_ignoring_case(scheme, "http") && !equals_ignoring_case(scheme, "https")) {
    return bad("request target of a foreign scheme");
  }
  const std::size_t host_at = scheme_bytes + 3;
  const std::size_t host_end = std::min(target.find_first_of("/?", host_at), target.size());
  if (!detail::is_host(target.substr(host_at, host_end - host_at))) {
    return bad("request target without a valid host");
  }
  const char* const text = target.data();
  head.host = span(base, text + host_at, text + host_end);
  split_at_query(base, text + host_end, text + target.size(), head);
  return complete;
}

/// The four forms of RFC 9112, section 3.2. Sets path and query, and host if the target has one.
ParseOutcome split_target(const char* base, RequestHead& head) {
  const std::string_view target = head.target.in(base);
  const char* const end = target.data() + target.size();
  head.host = {0, 0};
  if (head.method == Method::connect) {
    head.path = head.host = head.target;
    head.query = span(base, end, end);
    const bool has_port =
        target.back() != ':' && target.find(':', target.find(']') + 1) < target.size();
    return detail::is_host(target) && has_port ? complete : bad("CONNECT target is not host:port");
  }
  if (target.front() == '/') {
    split_at_query(base, target.data(), end, head);
    return complete;
  }
  if (target == "*") {
    head.path = head.target;
    head.query = span(base, end, end);
    return head.method == Method::options ? complete : bad("request target * without OPTIONS");
  }
  return split_absolute_target(base, head);
}

ParseOutcome parse_request_line(const char* base, const char*& at, const char* end,
                                const Limits& limits, RequestHead& head) {
  ParseOutcome outcome = skip_empty_line(at, end);
  if (outcome.status == ParseStatus::complete) outcome = parse_method(base, at, end, head);
  if (outcome.status == ParseStatus::complete) outcome = parse_target(base, at, end, limits, head);
  if (outcome.status == ParseStatus::complete) outcome = parse_request_line_end(at, end, head);
  if (outcome.status == ParseStatus::complete) outcome = split_target(base, head);
  return outcome;
}

/// What the fields together must fulfil, known at the end of the head (RFC 9112, sections 3.2, 6).
ParseOutcome conclude(const detail::FieldFacts& facts, RequestHead& head) {
  if (!facts.has_host && head.minor_version >= 1) return bad("no Host");
  if (head.host.length == 0) head.host = facts.host;
  head.body = Body::none;
  if (facts.has_transfer_encoding) {
    if (head.minor_version == 0) return bad("Transfer-Encoding in HTTP/1.0");
    if (head.method == Method::get || head.method == Method::head ||
        head.method == Method::connect || head.method == Method::trace) {
      return bad("Transfer-Encoding in a request without a body");
    }
    head.body = Body::chunked;
  } else if (head.content_length > 0) {
    if (head.method == Method::connect || head.method == Method::trace) {
      return bad("Content-Length in a request without a body");
    }
    head.body = Body::length;
  }
  head.keep_alive = detail::allows_keep_alive(head.minor_version, facts);
  head.expect_continue = facts.says_continue && head.minor_version >= 1 && head.body != Body::none;
  return complete;
}

/// True if bytes[scanned..] only go on with a field line that was begun before, within the limit
/// and with bytes that cannot be wrong there. Then what was partial without them still is.
bool continues_field_line(std::string_view bytes, std::size_t scanned, const Limits& limits) {
  if (scanned > bytes.size()) return false;
  const std::size_t request_line_end = bytes.find('\n', 2);  // Past an empty line before it.
  if (request_line_end >= scanned - 1) return false;
  if (bytes.size() - (request_line_end + 1) >= limits.header_bytes_max) return false;

  // memrchr() and not rfind(), which walks byte by byte.
  const auto* const line_feed = static_cast<const char*>(memrchr(bytes.data(), '\n', scanned));
  const auto line_at = static_cast<std::size_t>(line_feed + 1 - bytes.data());
  if (line_at == scanned || bytes[scanned - 1] == '\r') return false;
  const char* at = bytes.data() + scanned;
  const char* const end = bytes.data() + bytes.size();
  if (bytes.substr(line_at, scanned - line_at).find(':') == std::string_view::npos) {
    at = find_end_of(token_char, at, end);
    if (at == end) return true;
    if (*at++ != ':') return false;
  }
  return find_value_end(at, end) == end;
}

}  // namespace

ParseOutcome parse_request_head(std::string_view bytes, const Limits& limits, RequestHead& head,
                                std::size_t already_scanned) {
  const char* const base = bytes.data();
  const char* const end = base + std::min<std::size_t>(bytes.size(), INT32_MAX);
  const char* at = base;
  if (already_scanned > 0 && continues_field_line(bytes, already_scanned, limits)) return partial;

  const ParseOutcome line = parse_request_line(base, at, end, limits, head);
  if (line.status != ParseStatus::complete) return line;

  detail::FieldFacts facts;
  const ParseOutcome fields = detail::parse_fields(base, at, end, limits, head, facts);
  if (fields.status != ParseStatus::complete) return fields;
  return conclude(facts, head);
}

}  // namespace sennit::http::h1
