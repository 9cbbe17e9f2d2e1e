#include <algorithm>

#include "sennit/http/detail/scan.hpp"
#include "sennit/http/h1/detail/fields.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/http/status.hpp"

namespace sennit::http::h1 {
namespace {

using namespace http::detail;
using detail::complete;
using detail::partial;

constexpr ParseOutcome bad(const char* reason) { return detail::bad(reason, 502); }

/// " 200" and the space after it, which may be missing if the reason is.
ParseOutcome parse_status(const char*& at, const char* end, ResponseHead& head) {
  constexpr std::string_view pattern = " ddd";  // d: one digit.
  unsigned status = 0;
  for (const char wanted : pattern) {
    if (at == end) return partial;
    const bool fits = wanted == ' ' ? *at == ' ' : *at >= '0' && *at <= '9';
    if (!fits) return bad("malformed status line");
    if (wanted == 'd') status = status * 10 + static_cast<unsigned>(*at - '0');
    ++at;
  }
  if (status < 100 || status > 599) return bad("status code out of range");
  if (at == end) return partial;
  if (*at != ' ' && *at != '\r') return bad("malformed status line");
  if (*at == ' ') ++at;
  head.status = static_cast<std::uint16_t>(status);
  return complete;
}

ParseOutcome parse_reason(const char* base, const char*& at, const char* end, const Limits& limits,
                          ResponseHead& head) {
  const std::size_t available = static_cast<std::size_t>(end - at);
  const bool limited = available > limits.uri_bytes_max;
  const char* const window_end = limited ? at + limits.uri_bytes_max + 1 : end;
  const char* const reason_end = find_value_end(at, window_end);
  if (static_cast<std::size_t>(reason_end - at) > limits.uri_bytes_max) {
    return bad("reason phrase too long");
  }
  if (reason_end == end) return partial;
  if (*reason_end != '\r') return bad("control character in the status line");
  if (end - reason_end < 2) return partial;
  if (reason_end[1] != '\n') return bad("carriage return without line feed");
  head.reason = {static_cast<std::uint32_t>(at - base),
                 static_cast<std::uint32_t>(reason_end - at)};
  at = reason_end + 2;
  return complete;
}

/// RFC 9112, section 6.3.
ParseOutcome conclude(const detail::FieldFacts& facts, Method request_method, ResponseHead& head) {
  const bool is_tunnel = request_method == Method::connect && head.status / 100 == 2;
  head.keep_alive = detail::allows_keep_alive(head.minor_version, facts);
  if (facts.has_transfer_encoding && head.minor_version == 0) {
    return bad("Transfer-Encoding in HTTP/1.0");
  }
  if (is_bodiless(static_cast<Status>(head.status)) || request_method == Method::head ||
      is_tunnel) {
    head.body = Body::none;
  } else if (facts.has_transfer_encoding) {
    head.body = Body::chunked;
  } else if (facts.has_content_length) {
    head.body = head.content_length == 0 ? Body::none : Body::length;
  } else {
    head.body = Body::until_close;
    head.keep_alive = false;
  }
  return complete;
}

}  // namespace

ParseOutcome parse_response_head(std::string_view bytes, const Limits& limits,
                                 Method request_method, ResponseHead& head) {
  const char* const base = bytes.data();
  const char* const end = base + std::min<std::size_t>(bytes.size(), INT32_MAX);
  const char* at = base;
  ParseOutcome outcome = detail::parse_version(at, end, head.minor_version);
  if (outcome.status == ParseStatus::complete) {
    at += detail::version_bytes;
    outcome = parse_status(at, end, head);
  }
  if (outcome.status == ParseStatus::complete) {
    outcome = parse_reason(base, at, end, limits, head);
  }
  detail::FieldFacts facts;
  if (outcome.status == ParseStatus::complete) {
    outcome = detail::parse_fields(base, at, end, limits, head, facts);
  }
  if (outcome.status == ParseStatus::complete) outcome = conclude(facts, request_method, head);
  if (outcome.status == ParseStatus::error) outcome.http_status = 502;
  return outcome;
}

}  // namespace sennit::http::h1
