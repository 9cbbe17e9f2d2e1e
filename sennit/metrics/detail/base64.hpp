#pragma once
// Base64 (RFC 4648, the standard alphabet, padded).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/buffer.hpp"

namespace sennit::metrics::detail {

[[nodiscard]] std::string base64_encode(ByteView bytes);
/// None unless `text` is whole and well formed.
[[nodiscard]] std::optional<std::vector<std::byte>> base64_decode(std::string_view text);

}  // namespace sennit::metrics::detail
