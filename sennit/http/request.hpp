#pragma once
// Request: what a handler is given. Method, target, header fields, route parameters, body.
//
// A request owns its bytes: the server copies a parsed head in with assign(), which is one copy of
// the head and of the offsets of its fields, and lets the body grow in mutable_body(). reset()
// keeps the memory, so that requests from a pool allocate nothing once they are warm.
//
// Thread safety: none. Views are good until reset(), assign() or the end of the request.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/buffer.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/http/headers.hpp"
#include "sennit/http/method.hpp"
#include "sennit/http/route_params.hpp"
#include "sennit/http/router.hpp"
#include "sennit/http/state.hpp"

namespace sennit::http {

class BodyReader;

class Request {
 public:
  Request() = default;
  Request(Request&&) = default;
  Request& operator=(Request&&) = default;

  [[nodiscard]] Method method() const { return method_; }
  /// As sent, also when method() is `other`.
  [[nodiscard]] std::string_view method_name() const { return at(method_name_); }
  /// As sent: "/users/7?full=1", or "http://host/users/7" when we are taken for a proxy.
  [[nodiscard]] std::string_view target() const { return at(target_); }
  /// The path of the target, not decoded; "/" if it has none.
  [[nodiscard]] std::string_view path() const {
    return path_.length == 0 ? std::string_view("/") : at(path_);
  }
  /// What follows the '?', not decoded.
  [[nodiscard]] std::string_view query_string() const { return at(query_); }
  /// The decoded value of the first query parameter of that (decoded) name; '+' is a space. A
  /// parameter without '=' is empty. Nothing if there is none or its escapes are not valid.
  [[nodiscard]] std::optional<std::string> query(std::string_view name) const;
  /// Host and port as the client named them; may be empty in HTTP/1.0.
  [[nodiscard]] std::string_view host() const { return at(host_); }

  /// The value of the first field of that name; names are compared without case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
  [[nodiscard]] std::size_t header_count() const { return fields_.size(); }
  /// Requires index < header_count(). In the order sent, repeats included.
  [[nodiscard]] Header header_at(std::size_t index) const;

  /// The decoded value of the route's {name}; empty if the route has none. "%2F" gives '/' here.
  [[nodiscard]] std::string_view param(std::string_view name) const;

  [[nodiscard]] std::string_view body() const { return body_.view(); }

  /// What the handler reads the body from, if it said that it does; else null.
  [[nodiscard]] BodyReader* body_reader() const { return body_reader_; }

  /// What the server was given by provide(); null if there is none of that type.
  template <class T>
  [[nodiscard]] T* state() const {
    return state_ == nullptr ? nullptr : state_->get<T>();
  }
  /// The pattern of the route that was found, or empty: "/users/{id}". Lives as long as the server.
  [[nodiscard]] std::string_view route_pattern() const {
    return match_ == nullptr ? std::string_view() : match_->pattern;
  }

  /// 0 for HTTP/1.0, 1 for HTTP/1.1.
  [[nodiscard]] int minor_version() const { return minor_version_; }
  /// Whether the client lets the connection go on after this request.
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }

  // For the server.

  /// Takes over a head that was parsed from `head_bytes`; body and parameters become empty.
  void assign(std::string_view head_bytes, const h1::RequestHead& head);
  [[nodiscard]] Buffer& mutable_body() { return body_; }
  void set_state(const StateMap* state) { state_ = state; }
  /// What the router found; kept as a pointer.
  void set_match(const Router::Match* match) { match_ = match; }
  [[nodiscard]] const Router::Match* match() const { return match_; }
  void set_body_reader(BodyReader* reader) { body_reader_ = reader; }
  /// Takes over what the router found; `params` may view our own path() and the router's names.
  void set_params(const RouteParams& params);
  /// Empties the request and keeps its memory, except a body of more than `body_bytes_kept` and a
  /// head of more than 8 KiB: a pool must not stay as large as the largest requests made it.
  void reset(std::size_t body_bytes_kept = 64 * 1024);

 private:
  struct Param {
    std::string_view name;
    h1::Span value;
    bool is_decoded;  // The span is into decoded_params_, else into head_bytes_.
  };

  [[nodiscard]] std::string_view at(h1::Span span) const {
    return span.in(head_bytes_.view().data());
  }

  Buffer head_bytes_;
  std::vector<h1::Field> fields_;
  h1::Span method_name_{0, 0};
  h1::Span target_{0, 0};
  h1::Span path_{0, 0};
  h1::Span query_{0, 0};
  h1::Span host_{0, 0};
  Method method_ = Method::get;
  std::uint8_t minor_version_ = 1;
  bool keep_alive_ = true;
  Buffer body_;
  std::string decoded_params_;
  std::vector<Param> params_;
  const Router::Match* match_ = nullptr;
  const StateMap* state_ = nullptr;
  BodyReader* body_reader_ = nullptr;
};

}  // namespace sennit::http
