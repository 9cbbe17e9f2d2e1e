#pragma once
// ClientResponse: what came back. Whole, or as a stream of its body.
//
//   response.status(), response.headers().get("ETag"), response.body()       // whole
//   Result of wait(response.read(room)): bytes; 0 at the end                  // stream()
//
// A streamed response holds its connection: read it to the end, so that the connection can be used
// again, or destroy it, which closes the connection. It must end before its Client does.
//
// Thread safety: none; it belongs to the worker of its Client.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "sennit/http/client_error.hpp"
#include "sennit/http/headers.hpp"
#include "sennit/http/status.hpp"
#include "sennit/runtime/task.hpp"

namespace sennit::http {

namespace detail {
class ResponseBody;
class ClientCall;
}  // namespace detail

class ClientResponse {
 public:
  ClientResponse();
  ~ClientResponse();
  ClientResponse(ClientResponse&& other) noexcept;
  ClientResponse& operator=(ClientResponse&& other) noexcept;

  [[nodiscard]] Status status() const { return status_; }
  /// As received, but for Content-Encoding and Content-Length of a body that was decompressed.
  [[nodiscard]] const Headers& headers() const { return headers_; }
  /// All of it; empty for a streamed one.
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] std::string take_body() { return std::move(body_); }

  /// Where it came from in the end, after redirects.
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] unsigned redirects() const { return redirects_; }
  /// Requests that were begun for it, with retries and redirects.
  [[nodiscard]] unsigned tries() const { return tries_; }
  /// The connection had carried other requests before.
  [[nodiscard]] bool was_reused() const { return was_reused_; }

  [[nodiscard]] bool is_streamed() const { return stream_ != nullptr; }
  /// Of a streamed response: at least one byte into `room`, or 0 at the end. One at a time; `room`
  /// must not be empty. The call's deadline counts here too.
  /// Errors: phase body; closed or connection_reset if it breaks off, malformed, limit_reached,
  /// timed_out, cancelled. After an error the same again.
  [[nodiscard]] Task<std::expected<std::size_t, ClientError>> read(std::span<char> room);

 private:
  friend class detail::ClientCall;
  Status status_ = Status::ok;
  bool was_reused_ = false;
  unsigned redirects_ = 0;
  unsigned tries_ = 0;
  Headers headers_;
  std::string body_;
  std::string url_;
  std::unique_ptr<detail::ResponseBody> stream_;
};

using ClientResult = std::expected<ClientResponse, ClientError>;

}  // namespace sennit::http
