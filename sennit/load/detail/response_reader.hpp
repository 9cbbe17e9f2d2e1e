#pragma once
// ResponseReader: finds where responses end, one after the other, as their bytes arrive.
//
//   reader.begin(method);
//   step = reader.take(bytes)      partial: everything was consumed, more is needed
//                                  complete: what follows `consumed` is not this response's
//                                  malformed: the connection is of no use any more
//   status = reader.end()          the peer has ended the stream: complete, if that ends the body
//
// Bodies are counted, not kept. A head that arrives in one piece is parsed where it lies; only an
// incomplete one is copied. Interim responses (1xx) are passed over.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sennit/base/buffer.hpp"
#include "sennit/http/h1/chunked.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/http/method.hpp"

namespace sennit::load::detail {

class ResponseReader {
 public:
  using Status = http::h1::ParseStatus;
  struct Step {
    Status status;
    std::size_t consumed;
  };

  /// Before the response to a request of this method, on the same connection or another.
  void begin(http::Method request_method) {
    request_method_ = request_method;
    body_ = Body::head;
    head_.clear();
  }
  /// Requires that this response is not complete or malformed yet.
  [[nodiscard]] Step take(std::string_view bytes);
  /// Requires the same. Complete or error.
  [[nodiscard]] Status end() const;

  // Of the response that is complete.
  [[nodiscard]] int http_status() const { return http_status_; }
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }

  /// What was wrong, after an error. Static storage.
  [[nodiscard]] const char* reason() const { return reason_; }

 private:
  enum class Body : std::uint8_t { head, length, chunked, until_close };

  Step take_head(std::string_view bytes);
  Step take_length(std::string_view bytes);
  Step take_chunks(std::string_view bytes);
  Status begin_body(const http::h1::ResponseHead& head);
  Step fail(const char* reason);

  http::Method request_method_ = http::Method::get;
  Body body_ = Body::head;
  bool keep_alive_ = false;
  std::uint16_t http_status_ = 0;
  std::uint64_t left_ = 0;  // Of a body with a length.
  const char* reason_ = "";
  Buffer head_;  // The part of a head that has arrived, if not all.
  http::h1::ChunkedDecoder chunks_;
};

}  // namespace sennit::load::detail
