#pragma once
// Uploads as multipart/form-data (RFC 7578), taken apart as they arrive.
//
//   server.post("/upload", [](http::Request& request, http::BodyReader& body)
//                              -> Task<Result<http::Response>> {
//     auto upload = http::MultipartReader::open(request, body);
//     if (!upload) co_return failure(upload.error());
//     for (;;) {
//       const auto part = co_await upload->next();           // Skips what is left of the last one.
//       if (!part) co_return failure(part.error());
//       if (!part->has_value()) co_return http::text("stored");
//       for (;;) {
//         const auto piece = co_await upload->read();        // Of this part; empty at its end.
//         ...
//
// On a fiber: wait(upload->next()). Memory: a piece of the body and the longest head of a part,
// whatever the upload. At most parts_max parts, each with at most head_bytes_max of a head: more
// is limit_reached, which the client is told as 503 unless the handler says otherwise; what is
// wrong is malformed, 400. Line ends are CRLF, nothing stands before the first boundary.
//
// Thread safety: none.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sennit/base/buffer.hpp"
#include "sennit/base/result.hpp"
#include "sennit/http/body.hpp"
#include "sennit/http/request.hpp"
#include "sennit/runtime/task.hpp"

namespace sennit::http {

struct MultipartLimits {
  std::size_t parts_max = 100;
  std::size_t head_bytes_max = 8 * 1024;
};

struct MultipartPart {
  std::string name;
  /// As the client says: may hold anything, "../../etc/passwd" too. See safe_filename().
  std::optional<std::string> filename;
  std::string content_type;  // Empty if it was not said.

  /// What follows the last slash or backslash, if that is a name a file could have: without
  /// controls, not ".", ".." nor empty, at most 255 bytes. Nothing otherwise.
  [[nodiscard]] std::optional<std::string> safe_filename() const;
};

/// Of a Content-Type field. Nothing if it is none of multipart/form-data, or has no usable
/// boundary (RFC 2046: 1 to 70 characters of a set).
[[nodiscard]] std::optional<std::string> multipart_boundary(std::string_view content_type);

/// The pure part: bytes in, events out.
class MultipartDecoder {
 public:
  enum class Event : std::uint8_t { need_more, part, data, part_end, end, error };

  explicit MultipartDecoder(std::string_view boundary, const MultipartLimits& limits = {});

  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// Goes on. After `end` and `error` every further call answers the same.
  [[nodiscard]] Event next();
  /// After `part`.
  [[nodiscard]] const MultipartPart& part() const { return part_; }
  /// After `data`; good until the next call.
  [[nodiscard]] std::string_view data() const { return data_; }
  /// After `error`.
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  enum class State : std::uint8_t { first, after_boundary, head, body, end, error };
  Event fail(Errc code, const char* what);
  Event read_head();
  Event read_data();
  const char* parse_head(std::string_view head);

  const std::string delimiter_;  // CRLF, two dashes and the boundary.
  const MultipartLimits limits_;
  State state_ = State::first;
  bool is_in_part_ = false;
  std::size_t part_count_ = 0;
  std::size_t used_ = 0;  // Of the buffer, by the last event.
  Buffer buffer_;
  MultipartPart part_;
  std::string_view data_;
  Error error_{Errc::malformed};
};

class MultipartReader {
 public:
  /// Errors: malformed if the request is no multipart/form-data.
  [[nodiscard]] static Result<MultipartReader> open(const Request& request, BodyReader& body,
                                                    const MultipartLimits& limits = {});

  /// The next part, or nothing behind the last. Errors: also those of BodyReader::read().
  [[nodiscard]] Task<Result<std::optional<MultipartPart>>> next();
  /// The next piece of the part; empty at its end. Lent until the next call.
  [[nodiscard]] Task<Result<std::string_view>> read();

 private:
  MultipartReader(BodyReader& body, MultipartDecoder decoder)
      : body_(&body), decoder_(std::move(decoder)) {}
  [[nodiscard]] Task<Result<MultipartDecoder::Event>> advance();

  BodyReader* body_;
  MultipartDecoder decoder_;
  MultipartDecoder::Event last_ = MultipartDecoder::Event::need_more;
};

}  // namespace sennit::http
