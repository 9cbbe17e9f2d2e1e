#pragma once
// Range requests (RFC 9110, section 14) for a representation of known length.
//
// Thread safety: functions of their arguments.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sennit::http {

struct ByteRange {
  std::uint64_t offset;
  std::uint64_t bytes;  // Never 0.
  bool operator==(const ByteRange&) const = default;
};

struct Ranges {
  enum class Kind : std::uint8_t {
    ignored,        // Not understood, or more than is reasonable: send the whole, 200.
    satisfiable,    // 206.
    unsatisfiable,  // 416.
  };
  Kind kind = Kind::ignored;
  std::vector<ByteRange> ranges;  // In the order asked for, each within the length.
};

/// Of one request; more are ignored.
inline constexpr std::size_t ranges_max = 16;

/// `field` is a Range field's value. Also ignored are ranges that overlap, or that together are
/// more than the whole: those who ask for these want work, not bytes.
[[nodiscard]] Ranges parse_ranges(std::string_view field, std::uint64_t length);

}  // namespace sennit::http
