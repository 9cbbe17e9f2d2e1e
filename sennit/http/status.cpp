#include "sennit/http/status.hpp"

#include <array>

namespace sennit::http {
namespace {

constexpr std::string_view lines[] = {
    "",
    "HTTP/1.1 100 Continue\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n",
    "HTTP/1.1 103 Early Hints\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 201 Created\r\n",
    "HTTP/1.1 202 Accepted\r\n",
    "HTTP/1.1 204 No Content\r\n",
    "HTTP/1.1 205 Reset Content\r\n",
    "HTTP/1.1 206 Partial Content\r\n",
    "HTTP/1.1 301 Moved Permanently\r\n",
    "HTTP/1.1 302 Found\r\n",
    "HTTP/1.1 303 See Other\r\n",
    "HTTP/1.1 304 Not Modified\r\n",
    "HTTP/1.1 307 Temporary Redirect\r\n",
    "HTTP/1.1 308 Permanent Redirect\r\n",
    "HTTP/1.1 400 Bad Request\r\n",
    "HTTP/1.1 401 Unauthorized\r\n",
    "HTTP/1.1 403 Forbidden\r\n",
    "HTTP/1.1 404 Not Found\r\n",
    "HTTP/1.1 405 Method Not Allowed\r\n",
    "HTTP/1.1 406 Not Acceptable\r\n",
    "HTTP/1.1 408 Request Timeout\r\n",
    "HTTP/1.1 409 Conflict\r\n",
    "HTTP/1.1 410 Gone\r\n",
    "HTTP/1.1 411 Length Required\r\n",
    "HTTP/1.1 412 Precondition Failed\r\n",
    "HTTP/1.1 413 Content Too Large\r\n",
    "HTTP/1.1 414 URI Too Long\r\n",
    "HTTP/1.1 415 Unsupported Media Type\r\n",
    "HTTP/1.1 416 Range Not Satisfiable\r\n",
    "HTTP/1.1 417 Expectation Failed\r\n",
    "HTTP/1.1 421 Misdirected Request\r\n",
    "HTTP/1.1 422 Unprocessable Content\r\n",
    "HTTP/1.1 426 Upgrade Required\r\n",
    "HTTP/1.1 428 Precondition Required\r\n",
    "HTTP/1.1 429 Too Many Requests\r\n",
    "HTTP/1.1 431 Request Header Fields Too Large\r\n",
    "HTTP/1.1 500 Internal Server Error\r\n",
    "HTTP/1.1 501 Not Implemented\r\n",
    "HTTP/1.1 502 Bad Gateway\r\n",
    "HTTP/1.1 503 Service Unavailable\r\n",
    "HTTP/1.1 504 Gateway Timeout\r\n",
    "HTTP/1.1 505 HTTP Version Not Supported\r\n",
};

constexpr std::size_t code_count = 600;
constexpr std::size_t code_at = 9;     // Where the code stands in a line.
constexpr std::size_t reason_at = 13;  // Where the reason phrase begins.

constexpr auto line_index = [] {
  std::array<std::uint8_t, code_count> index{};
  for (std::size_t i = 1; i < std::size(lines); ++i) {
    const char* digits = lines[i].data() + code_at;
    const int code = (digits[0] - '0') * 100 + (digits[1] - '0') * 10 + (digits[2] - '0');
    index[static_cast<std::size_t>(code)] = static_cast<std::uint8_t>(i);
  }
  return index;
}();

}  // namespace

std::string_view status_line(Status status) {
  const auto code = static_cast<std::size_t>(status);
  return code < code_count ? lines[line_index[code]] : std::string_view();
}

std::string_view reason_phrase(Status status) {
  const std::string_view line = status_line(status);
  return line.empty() ? line : line.substr(reason_at, line.size() - reason_at - 2);
}

}  // namespace sennit::http
