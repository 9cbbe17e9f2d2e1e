#pragma once
// Classes of bytes that HTTP's grammar speaks of, as one table, and comparison without case.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sennit::http::detail {

enum CharClass : std::uint8_t {
  token_char = 1,   // RFC 9110, 5.6.2: methods, field names.
  target_char = 2,  // Visible ASCII but '#': a fragment is never sent, space ends the target.
  value_char = 4,   // RFC 9110, 5.5: visible, space, tab, and 0x80 to 0xff.
  host_char = 8,    // RFC 3986, 3.2.2 reg-name, without the comma that would make it a list.
  hex_digit = 16,
};

inline constexpr auto char_classes = [] {
  std::array<std::uint8_t, 256> classes{};
  const auto add = [&classes](std::string_view chars, int bits) {
    for (const char c : chars) {
      auto& entry = classes[static_cast<unsigned char>(c)];
      entry = static_cast<std::uint8_t>(entry | bits);
    }
  };
  for (int c = 0; c < 256; ++c) {
    int bits = 0;
    if (c > 0x20 && c < 0x7f && c != '#') bits |= target_char;
    if (c == '\t' || (c >= 0x20 && c != 0x7f)) bits |= value_char;
    const bool is_digit = c >= '0' && c <= '9';
    if (is_digit || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      bits |= token_char | host_char;
    if (is_digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')) bits |= hex_digit;
    classes[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(bits);
  }
  add("!#$%&'*+-.^_`|~", token_char);
  add("-._~%!$&'()*+;=", host_char);
  return classes;
}();

[[nodiscard]] constexpr bool is(char c, CharClass wanted) {
  return (char_classes[static_cast<unsigned char>(c)] & wanted) != 0;
}

[[nodiscard]] constexpr bool all_are(std::string_view text, CharClass wanted) {
  for (const char c : text) {
    if (!is(c, wanted)) return false;
  }
  return true;
}

/// ASCII only.
[[nodiscard]] constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
}

[[nodiscard]] constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  }
  return true;
}

/// Value of a hexadecimal digit. Requires is(c, hex_digit).
[[nodiscard]] constexpr int hex_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

}  // namespace sennit::http::detail
