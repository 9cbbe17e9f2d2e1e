#pragma once
// Request methods (RFC 9110, section 9; PATCH is RFC 5789).

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sennit::http {

enum class Method : std::uint8_t {
  get,
  head,
  post,
  put,
  delete_,
  connect,
  options,
  trace,
  patch,
  other,  // A valid token that is none of these; its text is in the request.
};

inline constexpr std::size_t method_count = 10;  // With `other`.

/// "GET". Empty for `other`. Static storage.
[[nodiscard]] std::string_view to_string(Method method);

/// Methods are case-sensitive: "get" is `other`.
[[nodiscard]] Method method_from_string(std::string_view name);

}  // namespace sennit::http
