#pragma once
// Percent-encoding (RFC 3986, section 2.1): the escapes of paths, queries and forms.

#include <optional>
#include <string>
#include <string_view>

namespace sennit::http {

/// True if every '%' is followed by two hexadecimal digits.
[[nodiscard]] bool has_valid_escapes(std::string_view text);

/// Appends `text` to `out` with %XX decoded, once. An escape that is not valid stays as it is.
void append_percent_decoded(std::string& out, std::string_view text);

/// Also reads '+' as a space, as HTML forms write it. Nothing if an escape is not valid.
[[nodiscard]] std::optional<std::string> form_decoded(std::string_view text);

/// Appends `text` with everything but unreserved characters encoded: safe in any part of a URI.
void append_percent_encoded(std::string& out, std::string_view text);

}  // namespace sennit::http
