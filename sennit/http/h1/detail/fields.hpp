#pragma once
// The field section of a head, shared by requests and responses: lines up to the empty one, and
// the facts about framing that they tell.

#include <cstddef>
#include <cstdint>

#include "sennit/http/h1/parser.hpp"

namespace sennit::http::h1::detail {

inline constexpr ParseOutcome complete{ParseStatus::complete};
inline constexpr ParseOutcome partial{ParseStatus::partial};
[[nodiscard]] constexpr ParseOutcome bad(const char* reason, std::uint16_t http_status = 400) {
  return {ParseStatus::error, http_status, reason};
}

/// What the fields said that matters for where this message ends and whether another follows.
struct FieldFacts {
  Span host{0, 0};
  bool has_host = false;
  bool has_content_length = false;
  bool has_transfer_encoding = false;  // And it is `chunked`.
  bool says_close = false;
  bool says_keep_alive = false;
  bool says_continue = false;
};

/// Parses field lines from `at` on; sets fields, field_count, content_length and, when complete,
/// head_bytes. `base` is the first byte of the head, `end` the end of the input.
[[nodiscard]] ParseOutcome parse_fields(const char* base, const char* at, const char* end,
                                        const Limits& limits, MessageHead& head, FieldFacts& facts);

/// True if `text` is a host and an optional port, without user information.
[[nodiscard]] bool is_host(std::string_view text);

/// "HTTP/1.1" and what else may stand there. On success sets `version_bytes` and `minor_version`.
/// Unsupported versions are an error with status 505, all else 400.
[[nodiscard]] ParseOutcome parse_version(const char* at, const char* end,
                                         std::uint8_t& minor_version);
inline constexpr std::size_t version_bytes = 8;

/// RFC 9112, section 9.3.
[[nodiscard]] constexpr bool allows_keep_alive(std::uint8_t minor_version,
                                               const FieldFacts& facts) {
  return !facts.says_close && (minor_version >= 1 || facts.says_keep_alive);
}

}  // namespace sennit::http::h1::detail
