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
// Thread safety: none. Movable. Classes with constructors on purpose: GCC 12 destroys temporaries
// of aggregate type twice in a co_await expression.

#include <string>
#include <string_view>
#include <utility>

#include "sennit/http/headers.hpp"
#include "sennit/http/status.hpp"

namespace sennit::http {

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
  }
  /// Sent from where it is, never copied: must stay until the process ends.
  void set_static_body(std::string_view body) {
    body_.clear();
    static_body_ = body;
  }

  /// Asks the server to end the connection after this response.
  void close_connection() { closes_connection_ = true; }
  [[nodiscard]] bool closes_connection() const { return closes_connection_; }

 private:
  Status status_ = Status::ok;
  bool closes_connection_ = false;
  std::string_view content_type_;
  std::string_view static_body_;  // Null data unless the body is static.
  std::string body_;
  Headers headers_;
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
