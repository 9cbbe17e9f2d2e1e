#include "sennit/http/h1/detail/fields.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "sennit/http/detail/scan.hpp"

namespace sennit::http::h1::detail {
namespace {

using namespace http::detail;

Span span(const char* base, const char* begin, const char* end) {
  return {static_cast<std::uint32_t>(begin - base), static_cast<std::uint32_t>(end - begin)};
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Digits only, below 2^63, so that sums with it cannot wrap.
bool parse_content_length(std::string_view text, std::uint64_t& length) {
  constexpr std::size_t digits_max = 19;
  if (text.empty() || text.size() > digits_max) return false;
  std::uint64_t value = 0;  // 19 digits fit in 64 bits.
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  length = value;
  return value <= INT64_MAX;
}

/// Notes the options of a Connection field that concern us: a comma separated list of tokens.
void note_connection(std::string_view list, FieldFacts& facts) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view option = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (!option.empty() && is_blank(option.front())) option.remove_prefix(1);
    while (!option.empty() && is_blank(option.back())) option.remove_suffix(1);
    if (equals_ignoring_case(option, "close")) facts.says_close = true;
    if (equals_ignoring_case(option, "keep-alive")) facts.says_keep_alive = true;
  }
}

/// True if a tab is among the whitespace that was trimmed: between the colon and the line's end.
bool has_tab_around(std::string_view value) {
  const char* before = value.data() - 1;
  while (*before == ' ') --before;
  const char* after = value.data() + value.size();
  while (*after == ' ') ++after;
  return *before == '\t' || *after == '\t';
}

/// True if the token at `text` is `lower` without regard to case. For names of lower-case letters
/// and '-' alone: no other token character becomes one of these when its bit 0x20 is set. Requires
/// as many bytes as `lower` has.
template <std::size_t size>
bool is_name(const char* text, const char (&lower)[size]) {
  constexpr std::size_t length = size - 1;
  using Word = std::conditional_t<(length < 8), std::uint32_t, std::uint64_t>;
  constexpr Word case_bits = static_cast<Word>(0x2020202020202020);
  const auto differs_at = [&](std::size_t at) {
    Word given;
    Word wanted;
    std::memcpy(&given, text + at, sizeof given);
    std::memcpy(&wanted, lower + at, sizeof wanted);
    return (given | case_bits) != wanted;
  };
  static_assert(length >= sizeof(Word));
  for (std::size_t at = 0; at + sizeof(Word) < length; at += sizeof(Word)) {
    if (differs_at(at)) return false;
  }
  return !differs_at(length - sizeof(Word));  // The last word may overlap the one before.
}

/// Returns what is wrong with a field that matters for framing, or null.
const char* note_field(std::string_view name, std::string_view value, const Field& field,
                       MessageHead& head, FieldFacts& facts) {
  switch (name.size()) {
    case 4:
      if (!is_name(name.data(), "host")) return nullptr;
      if (facts.has_host) return "more than one Host";
      if (!is_host(value)) return "Host is not a host and port";
      facts.has_host = true;
      facts.host = field.value;
      return nullptr;
    case 6:
      if (is_name(name.data(), "expect") && equals_ignoring_case(value, "100-continue")) {
        facts.says_continue = true;
      }
      return nullptr;
    case 10:
      if (is_name(name.data(), "connection")) note_connection(value, facts);
      return nullptr;
    case 14:
      if (!is_name(name.data(), "content-length")) return nullptr;
      if (facts.has_transfer_encoding) return "Content-Length beside Transfer-Encoding";
      if (facts.has_content_length) return "more than one Content-Length";
      if (!parse_content_length(value, head.content_length))
        return "Content-Length is not a length";
      facts.has_content_length = true;
      return nullptr;
    case 17:
      if (!is_name(name.data(), "transfer-encoding")) return nullptr;
      if (facts.has_content_length) return "Content-Length beside Transfer-Encoding";
      if (facts.has_transfer_encoding) return "more than one Transfer-Encoding";
      // Of everything RFC 9112 would let pass here, this is what every recipient reads alike.
      if (value != "chunked" || has_tab_around(value)) {
        return "Transfer-Encoding is not exactly chunked";
      }
      facts.has_transfer_encoding = true;
      return nullptr;
    default:
      return nullptr;
  }
}

/// What is wrong with the byte that should have been the colon.
const char* name_complaint(const char* name_begin, const char* at) {
  if (is_blank(*at)) {
    return at == name_begin ? "whitespace before a field name, or a folded line"
                            : "whitespace after a field name";
  }
  if (*at == ':') return "empty field name";
  return "byte that no field name may hold";
}

const char* value_complaint(char c) {
  if (c == '\n') return "line feed without carriage return";
  return "control character in a field value";
}

ParseOutcome parse_lines(const char* base, const char* at, const char* end, std::size_t count_max,
                         MessageHead& head, FieldFacts& facts) {
  std::uint32_t count = 0;
  for (;;) {
    if (at == end) return partial;
    if (*at == '\r') {
      if (end - at < 2) return partial;
      if (at[1] != '\n') return bad("carriage return without line feed");
      head.field_count = count;
      head.head_bytes = static_cast<std::uint32_t>(at + 2 - base);
      return complete;
    }
    if (count == count_max) return bad("too many fields", 431);

    const char* const name_end = find_end_of(token_char, at, end);
    if (name_end == end) return partial;
    if (*name_end != ':' || name_end == at) return bad(name_complaint(at, name_end));

    const char* value_begin = name_end + 1;
    while (value_begin != end && is_blank(*value_begin)) ++value_begin;
    const char* const line_end = find_value_end(value_begin, end);
    if (line_end == end) return partial;
    if (*line_end != '\r') return bad(value_complaint(*line_end));
    if (end - line_end < 2) return partial;
    if (line_end[1] != '\n') return bad("carriage return without line feed");

    const char* value_end = line_end;
    while (value_end != value_begin && is_blank(value_end[-1])) --value_end;
    Field& field = head.fields[count++];
    field = {span(base, at, name_end), span(base, value_begin, value_end)};
    const char* const complaint = note_field(
        {at, static_cast<std::size_t>(name_end - at)},
        {value_begin, static_cast<std::size_t>(value_end - value_begin)}, field, head, facts);
    if (complaint != nullptr) return bad(complaint);
    at = line_end + 2;
  }
}

}  // namespace

ParseOutcome parse_fields(const char* base, const char* at, const char* end, const Limits& limits,
                          MessageHead& head, FieldFacts& facts) {
  head.content_length = 0;
  const std::size_t available = static_cast<std::size_t>(end - at);
  const std::size_t window = std::min(available, limits.header_bytes_max);
  const std::size_t count_max = std::min(limits.header_count_max, MessageHead::field_count_max);
  const ParseOutcome outcome = parse_lines(base, at, at + window, count_max, head, facts);
  if (outcome.status == ParseStatus::partial && window == limits.header_bytes_max) {
    return bad("header fields too large", 431);  // At least one more byte would be needed.
  }
  return outcome;
}

bool is_host(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at != end && *at == '[') {  // An IPv6 address; its own grammar is left to who connects to it.
    const char* const begin = ++at;
    while (at != end && (is(*at, hex_digit) || *at == ':' || *at == '.')) ++at;
    if (at == end || *at != ']' || at - begin < 2) return false;
    ++at;
  } else {
    at = find_end_of(host_char, at, end);
    if (at == text.data()) return false;
  }
  if (at == end) return true;
  if (*at++ != ':' || end - at > 5) return false;
  unsigned port = 0;
  for (; at != end; ++at) {
    if (*at < '0' || *at > '9') return false;
    port = port * 10 + static_cast<unsigned>(*at - '0');
  }
  return port <= 65535;
}

ParseOutcome parse_version(const char* at, const char* end, std::uint8_t& minor_version) {
  constexpr std::string_view pattern = "HTTP/d.d";  // d: one digit.
  static_assert(pattern.size() == version_bytes);
  for (std::size_t i = 0; i < pattern.size(); ++i, ++at) {
    if (at == end) return partial;
    const bool fits = pattern[i] == 'd' ? *at >= '0' && *at <= '9' : *at == pattern[i];
    if (!fits) return bad("malformed protocol version");
  }
  if (at[-3] != '1') return bad("unsupported protocol version", 505);
  minor_version = at[-1] == '0' ? 0 : 1;
  return complete;
}

}  // namespace sennit::http::h1::detail
