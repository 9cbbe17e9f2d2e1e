#pragma once
// Status codes (RFC 9110, section 15; 429 and 431 are RFC 6585) and the words that go with them.
//
// A Status may hold any code from 100 to 999; the named ones have a reason phrase.

#include <cstdint>
#include <string_view>

namespace sennit::http {

enum class Status : std::uint16_t {
  continue_ = 100,
  switching_protocols = 101,
  early_hints = 103,
  ok = 200,
  created = 201,
  accepted = 202,
  no_content = 204,
  reset_content = 205,
  partial_content = 206,
  moved_permanently = 301,
  found = 302,
  see_other = 303,
  not_modified = 304,
  temporary_redirect = 307,
  permanent_redirect = 308,
  bad_request = 400,
  unauthorized = 401,
  forbidden = 403,
  not_found = 404,
  method_not_allowed = 405,
  not_acceptable = 406,
  request_timeout = 408,
  conflict = 409,
  gone = 410,
  length_required = 411,
  precondition_failed = 412,
  content_too_large = 413,
  uri_too_long = 414,
  unsupported_media_type = 415,
  range_not_satisfiable = 416,
  expectation_failed = 417,
  misdirected_request = 421,
  unprocessable_content = 422,
  upgrade_required = 426,
  precondition_required = 428,
  too_many_requests = 429,
  header_fields_too_large = 431,
  internal_server_error = 500,
  not_implemented = 501,
  bad_gateway = 502,
  service_unavailable = 503,
  gateway_timeout = 504,
  http_version_not_supported = 505,
};

/// "Not Found". Empty for a code without a name. Static storage.
[[nodiscard]] std::string_view reason_phrase(Status status);

/// "HTTP/1.1 404 Not Found\r\n". Empty for a code without a name. Static storage.
[[nodiscard]] std::string_view status_line(Status status);

/// True if a response with this status never has a body, whatever its header fields say
/// (RFC 9112, section 6.3): 1xx, 204 and 304.
[[nodiscard]] constexpr bool is_bodiless(Status status) {
  const auto code = static_cast<std::uint16_t>(status);
  return code < 200 || code == 204 || code == 304;
}

}  // namespace sennit::http
