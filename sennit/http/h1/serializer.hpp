#pragma once
// Writing messages as HTTP/1.1 bytes.
//
// The framing is written here and nowhere else: Content-Length, Transfer-Encoding and Connection
// fields that a handler set are left out, so that a message cannot announce two lengths. Header
// names and values were checked when they were set (see headers.hpp).
//
// Thread safety: functions of their arguments.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sennit/base/buffer.hpp"
#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/http/headers.hpp"
#include "sennit/http/response.hpp"

namespace sennit::http::h1 {

/// Appends the whole response, which must hold its whole body.
///
/// `head_request`: it answers a HEAD, so Content-Length says what a GET would get and no body
/// follows; neither does one for 1xx, 204 and 304. `keep_alive`: whether the server goes on with
/// this connection; announced where the client's `minor_version` would assume otherwise.
/// `date_line` is what date_line() returns, cached by the caller; empty writes none.
void write_response(Buffer& out, const Response& response, bool head_request, bool keep_alive,
                    int minor_version, std::string_view date_line);

/// The same without the body, for those that follow later. True if one must. One of unknown length
/// goes out in chunks, and to an HTTP/1.0 client until the connection ends.
bool write_response_head(Buffer& out, const Response& response, bool head_request, bool keep_alive,
                         int minor_version, std::string_view date_line);

/// Appends what stands before a chunk of so many bytes, and ends the chunk before it unless this is
/// the first. A chunk of 0 bytes ends the body.
void write_chunk_head(Buffer& out, std::size_t bytes, bool is_first);

/// Appends a request's head. A body of `content_length` bytes must follow; std::nullopt for
/// requests without one. `host` is host and port as for a Host field, `target` is sent as it is;
/// a Host among `headers` is left out as the framing fields are.
///
/// Errors: invalid_argument if method, target or host hold what would break out of the line;
/// `out` is unchanged.
[[nodiscard]] Result<> write_request_head(Buffer& out, std::string_view method,
                                          std::string_view target, std::string_view host,
                                          const Headers& headers,
                                          std::optional<std::uint64_t> content_length = {});

/// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7). For years 0 to 9999.
[[nodiscard]] std::string http_date(WallTime time);

/// "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n".
[[nodiscard]] std::string date_line(WallTime time);

}  // namespace sennit::http::h1
