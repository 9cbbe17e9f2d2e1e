#include "sennit/http/percent.hpp"

#include "sennit/http/detail/chars.hpp"

namespace sennit::http {
namespace {

using namespace detail;

bool is_escape(std::string_view text, std::size_t at) {
  return text[at] == '%' && text.size() - at >= 3 && is(text[at + 1], hex_digit) &&
         is(text[at + 2], hex_digit);
}

char escaped_byte(std::string_view text, std::size_t at) {
  return static_cast<char>(hex_value(text[at + 1]) * 16 + hex_value(text[at + 2]));
}

bool is_unreserved(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

}  // namespace

bool has_valid_escapes(std::string_view text) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 3)) {
    if (!is_escape(text, at)) return false;
  }
  return true;
}

void append_percent_decoded(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (is_escape(text, at)) {
      out += escaped_byte(text, at);
      at += 3;
    } else {
      out += text[at++];
    }
  }
}

std::optional<std::string> form_decoded(std::string_view text) {
  if (!has_valid_escapes(text)) return std::nullopt;
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '%') {
      out += escaped_byte(text, at);
      at += 3;
    } else {
      out += text[at] == '+' ? ' ' : text[at];
      ++at;
    }
  }
  return out;
}

void append_percent_encoded(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    if (is_unreserved(c)) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 15];
    }
  }
}

}  // namespace sennit::http
