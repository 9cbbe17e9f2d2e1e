#pragma once
// What a redirect makes of a request (RFC 9110, section 15.4). Pure functions.

#include <string>
#include <string_view>

#include "sennit/http/headers.hpp"
#include "sennit/http/method.hpp"
#include "sennit/http/status.hpp"
#include "sennit/http/url.hpp"

namespace sennit::http::detail {

/// 301, 302, 303, 307 or 308.
[[nodiscard]] bool is_redirect(Status status);

/// The next request becomes a GET without a body: after 303, all but HEAD; after 301 and 302 a
/// POST, as every client does.
[[nodiscard]] bool becomes_get(Status status, Method method);

/// Leaves out what must not go along: the Host field always; what describes the body when there is
/// none any more; credentials (Authorization, Cookie, Proxy-Authorization) to another origin.
[[nodiscard]] Headers redirected_headers(const Headers& headers, const Url& from, const Url& to,
                                         bool loses_body);

/// Safe to send twice (RFC 9110, section 9.2.2).
[[nodiscard]] bool is_idempotent(Method method);

}  // namespace sennit::http::detail
