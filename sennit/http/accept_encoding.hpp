#pragma once
// Accept-Encoding (RFC 9110, section 12.5.3): which coding a client would like most.
//
// Thread safety: functions of their arguments.

#include <cstdint>
#include <optional>
#include <string_view>

namespace sennit::http {

enum class Coding : std::uint8_t { identity, gzip, zstd };

/// "gzip". Static storage.
[[nodiscard]] std::string_view to_string(Coding coding);

/// The one with the greatest weight; among equals zstd before gzip before identity. identity is
/// acceptable unless it is refused by name, or by "*;q=0" without being named. Nothing if none is
/// acceptable. No field at all, or one that cannot be read, is identity.
[[nodiscard]] std::optional<Coding> choose_coding(std::optional<std::string_view> field);

}  // namespace sennit::http
