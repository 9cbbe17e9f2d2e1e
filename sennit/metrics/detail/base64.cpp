#include "sennit/metrics/detail/base64.hpp"

#include <array>
#include <cstdint>

namespace sennit::metrics::detail {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digits = [] {
  std::array<std::uint8_t, 256> table{};
  table.fill(no_digit);
  for (std::uint8_t i = 0; i < 64; ++i) table[static_cast<std::uint8_t>(alphabet[i])] = i;
  return table;
}();

}  // namespace

std::string base64_encode(ByteView bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      group = group << 8 | (j < bytes.size() ? std::to_integer<std::uint32_t>(bytes[j]) : 0);
    }
    for (int shift = 18; shift >= 0; shift -= 6) text.push_back(alphabet[group >> shift & 63]);
  }
  for (std::size_t missing = (3 - bytes.size() % 3) % 3; missing > 0; --missing) {
    text[text.size() - missing] = '=';
  }
  return text;
}

std::optional<std::vector<std::byte>> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && text.ends_with('=')) {
    text.remove_suffix(1);
    ++padding;
  }
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char character : text) {
    const std::uint8_t digit = digits[static_cast<std::uint8_t>(character)];
    if (digit == no_digit) return std::nullopt;
    bits = bits << 6 | digit;
    bit_count += 6;
    if (bit_count >= 8) {
      bit_count -= 8;
      bytes.push_back(static_cast<std::byte>(bits >> bit_count));
    }
  }
  if ((bits & ((1U << bit_count) - 1)) != 0) return std::nullopt;  // Bits that stand for no byte.
  return bytes;
}

}  // namespace sennit::metrics::detail
