#pragma once
// Response: what a handler returns. Status, header fields, a body, and how to make the usual ones.
//
//   return http::text("hello world");
//   return http::json(R"({"id":7})");
//   http::Response created = http::empty(http::Status::created);
//   if (auto set = created.headers().set("Location", location); !set) return failure(set.error());
//
// The server writes the framing itself: Date, Content-Length, Transfer-Encoding and Connection are
// its own, and fields of these names that a handler sets are not sent. A Content-Type among the
// headers replaces the one the response was made with.
//
// Bodies that are not one text: set_shared_body() and set_static_body() send memory from where it
// is, files.hpp makes responses from files, response_stream.hpp from functions that write. Copies
// of a response share such a body, and a file or a stream is sent once.
//
// Thread safety: none. Movable. Classes with constructors on purpose: GCC 12 destroys temporaries
// of aggregate type twice in a co_await expression.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sennit/http/body_encoder.hpp"
#include "sennit/http/file_body.hpp"
#include "sennit/http/headers.hpp"
#include "sennit/http/status.hpp"

namespace sennit::http {

namespace detail {
class ResponseStream;

/// What only some responses have; apart, so that the others stay small.
struct Transfer {
  std::shared_ptr<const std::string> shared;
  std::shared_ptr<FileBody> file;
  std::shared_ptr<ResponseStream> stream;
  std::optional<std::uint64_t> stream_length;
  std::shared_ptr<BodyEncoder> encoder;
};
}  // namespace detail

class Response {
 public:
  /// 200 with an empty body.
  Response() = default;
  explicit Response(Status status) : status_(status) {}
  /// `content_type` is kept as a view: of a literal, or of something else that lives on.
  Response(Status status, std::string_view content_type, std::string body)
      : status_(status), content_type_(content_type), body_(std::move(body)) {}

  [[nodiscard]] Status status() const { return status_; }
  void set_status(Status status) { status_ = status; }

  [[nodiscard]] Headers& headers() { return headers_; }
  [[nodiscard]] const Headers& headers() const { return headers_; }

  /// Empty if there is none. A Content-Type among headers() comes first.
  [[nodiscard]] std::string_view content_type() const { return content_type_; }
  /// `content_type` is kept as a view: of a literal, or of something else that lives on.
  void set_content_type(std::string_view content_type) { content_type_ = content_type; }

  [[nodiscard]] std::string_view body() const {
    return static_body_.data() == nullptr ? std::string_view(body_) : static_body_;
  }
  void set_body(std::string body) {
    body_ = std::move(body);
    static_body_ = {};
    transfer_.reset();
  }
  /// Sent from where it is, never copied: must stay until the process ends.
  void set_static_body(std::string_view body) {
    body_.clear();
    static_body_ = body;
    transfer_.reset();
  }
  /// Sent from where it is, never copied; kept until it is sent. Requires a string.
  void set_shared_body(std::shared_ptr<const std::string> body);
  /// Sent while it is read. Requires a file.
  void set_file(std::shared_ptr<FileBody> file);
  /// See response_stream.hpp.
  void set_stream(std::shared_ptr<detail::ResponseStream> stream,
                  std::optional<std::uint64_t> length);
  /// Sends what `encoder` makes of the body, whatever kind of body it is. The caller sets the
  /// header fields that say so.
  void set_encoder(std::shared_ptr<BodyEncoder> encoder);

  /// The whole body is in body().
  [[nodiscard]] bool is_whole() const {
    return transfer_ == nullptr || (transfer_->file == nullptr && transfer_->stream == nullptr &&
                                    transfer_->encoder == nullptr);
  }
  /// Of the body that is sent; nothing if that is not known before.
  [[nodiscard]] std::optional<std::uint64_t> content_length() const {
    return transfer_ == nullptr ? body().size() : transfer_length();
  }

  /// Asks the server to end the connection after this response.
  void close_connection() { closes_connection_ = true; }
  [[nodiscard]] bool closes_connection() const { return closes_connection_; }

  // For the server.

  /// Null for most responses.
  [[nodiscard]] detail::Transfer* transfer() const { return transfer_.get(); }

 private:
  [[nodiscard]] detail::Transfer& own_transfer();
  [[nodiscard]] std::optional<std::uint64_t> transfer_length() const;

  Status status_ = Status::ok;
  bool closes_connection_ = false;
  std::string_view content_type_;
  std::string_view static_body_;  // Null data unless the body is static.
  std::string body_;
  Headers headers_;
  std::shared_ptr<detail::Transfer> transfer_;
};

/// text/plain; charset=utf-8.
[[nodiscard]] Response text(std::string body);
[[nodiscard]] Response text(Status status, std::string body);
/// The same for a body that lives as long as the process, such as a literal; it is not copied.
[[nodiscard]] Response static_text(std::string_view body);
/// application/json; the body is sent as it is.
[[nodiscard]] Response json(std::string body);
[[nodiscard]] Response json(Status status, std::string body);
/// text/html; charset=utf-8.
[[nodiscard]] Response html(std::string body);
/// No body.
[[nodiscard]] Response empty(Status status);
/// To `location`, a URI reference. One that no header can hold becomes a 500.
[[nodiscard]] Response redirect(std::string_view location, Status status = Status::found);
/// A problem document (RFC 9457): {"title":"Not Found","status":404,"detail":"..."}. The title is
/// the status' reason phrase; `detail` may hold any bytes, also from a request.
[[nodiscard]] Response problem(Status status, std::string_view detail = {});

}  // namespace sennit::http
