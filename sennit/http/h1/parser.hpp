#pragma once
// Parsing the heads of HTTP/1.1 messages: pure functions of bytes, no I/O, no allocation.
//
//   complete   the head is whole; `head` describes it, the body begins at head.head_bytes
//   partial    so far nothing is wrong, and more bytes are needed
//   error      no bytes that may follow can make it right: answer http_status and close
//
// An error is reported at the first byte that makes it one, so the outcome depends on the bytes
// alone and never on how they were split: if a prefix is an error, every longer input is the same
// error. Strict as RFC 9112 and RFC 9110 ask, and stricter where senders and proxies have been
// played against each other:
//   - lines end in CRLF; a bare CR or LF, a NUL, a control character or DEL is an error anywhere
//   - no folded lines, no whitespace before the colon, no whitespace before the first field
//   - Content-Length: one field, digits only, below 2^63; none beside Transfer-Encoding
//   - Transfer-Encoding: one field that says exactly `chunked`, in that case and without tabs;
//     not in HTTP/1.0, and not in a GET, HEAD, CONNECT or TRACE request
//   - Host: exactly one in HTTP/1.1, at most one in HTTP/1.0; a host and an optional port
//
// Thread safety: functions of their arguments. Spans are offsets into the parsed bytes, so that
// the bytes may be copied elsewhere without parsing them again.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sennit/http/method.hpp"

namespace sennit::http::h1 {

struct Span {
  std::uint32_t offset;
  std::uint32_t length;

  /// `base` is the first byte of the head.
  [[nodiscard]] std::string_view in(const char* base) const { return {base + offset, length}; }
};

/// The value is without the whitespace around it.
struct Field {
  Span name;
  Span value;
};

struct Limits {
  std::size_t uri_bytes_max = 8 * 1024;      // Request target: 414. Reason phrase: 502.
  std::size_t header_bytes_max = 32 * 1024;  // All field lines with the empty one at the end: 431.
  std::size_t header_count_max = 100;        // 431. More than 100 counts as 100.
};

/// How the end of the body is found (RFC 9112, section 6.3).
enum class Body : std::uint8_t {
  none,
  length,  // content_length bytes, more than 0.
  chunked,
  until_close,  // Responses only.
};

/// What requests and responses have in common. Unspecified until a parse was complete.
struct MessageHead {
  static constexpr std::size_t field_count_max = 100;

  MessageHead() {}  // Not `= default`: {} would then clear 1,600 bytes that nobody reads.

  std::uint32_t head_bytes;      // All of the head, with the empty line at its end.
  std::uint32_t field_count;     // Of fields[]; the rest is not initialised.
  std::uint64_t content_length;  // As announced; 0 if it was not.
  Body body;
  std::uint8_t minor_version;  // HTTP/1.0: 0. HTTP/1.1 and every later HTTP/1.x: 1.
  bool keep_alive;             // The sender allows another message after this one.
  Field fields[field_count_max];
};

struct RequestHead : MessageHead {
  RequestHead() {}

  Method method;
  bool expect_continue;  // A body is announced that the client holds back until told to go on.
  Span method_name;
  Span target;  // As sent.
  Span path;  // Of the target, not decoded; empty if `http://host` has none. For CONNECT all of it.
  Span query;  // Without the '?'.
  Span host;   // With the port: of an absolute target, else of the Host field, else empty.
};

struct ResponseHead : MessageHead {
  ResponseHead() {}

  std::uint16_t status;  // 100 to 599.
  Span reason;
};

enum class ParseStatus : std::uint8_t { complete, partial, error };

struct ParseOutcome {  // Fits two registers.
  ParseStatus status;
  std::uint16_t http_status = 0;  // On error what to answer: 400, 414, 431, 501 or 505.
  const char* reason = "";        // On error one line for the log. Static storage.
};

/// Parses a request's head at the beginning of `bytes`. One empty line before it is skipped, and
/// counted in head_bytes. A method that is a token but unknown parses, as Method::other.
///
/// `already_scanned`: how many of these bytes an earlier call answered `partial`, with the same
/// limits. It changes no answer, only makes a head that arrives in drips cost linear time.
[[nodiscard]] ParseOutcome parse_request_head(std::string_view bytes, const Limits& limits,
                                              RequestHead& head, std::size_t already_scanned = 0);

/// Parses a response's head; `request_method` is the method it answers, since a HEAD or CONNECT
/// changes what follows. An interim response (1xx) is a head without a body; the next one follows.
/// On error http_status is 502. A missing space after the status code is forgiven, nothing else.
[[nodiscard]] ParseOutcome parse_response_head(std::string_view bytes, const Limits& limits,
                                               Method request_method, ResponseHead& head);

}  // namespace sennit::http::h1
