#pragma once
// Decoding a chunked body (RFC 9112, section 7.1) as it arrives, in place.
//
//   ChunkedDecoder decoder;
//   for (;;) {
//     const auto step = decoder.next(input);
//     input.remove_prefix(step.consumed);
//     take(step.data);                                 // A part of `input`; often empty.
//     if (step.status != ParseStatus::partial) break;  // complete: `input` is the next message.
//     if (input.empty()) receive more into `input`;
//   }
//
// An error is reported at the first byte that makes it one, whatever the split: a bare CR or LF
// anywhere, a size with a sign, a prefix, whitespace or above 2^63, an extension or trailer that
// is not as the grammar says, data that goes on where its chunk should end. Trailer fields are
// checked and dropped: nothing may be learnt from them once a body has been acted upon.
//
// Thread safety: none. Memory: a few words, whatever the body.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sennit/http/h1/parser.hpp"

namespace sennit::http::h1 {

struct ChunkedLimits {
  std::uint32_t chunk_extension_bytes_max = 256;  // Of one chunk, from its ';': 400.
  std::uint32_t extension_bytes_max = 4 * 1024;   // Of all chunks together: 400.
  std::uint32_t trailer_bytes_max = 8 * 1024;     // All lines with the empty one: 431.
};

class ChunkedDecoder {
 public:
  struct Step {
    ParseStatus status;
    std::size_t consumed;   // Bytes to drop from the front of the input; `data` is among them.
    std::string_view data;  // The next piece of the body.
    int http_status = 0;    // On error: 400 or 431.
    const char* reason = "";
  };

  explicit ChunkedDecoder(const ChunkedLimits& limits = {}) : limits_(limits) {}

  /// Goes on where the last call stopped. `partial` with something left of `bytes` asks to be
  /// called again with that; progress is certain. After `complete` or `error` every further call
  /// answers the same and consumes nothing.
  [[nodiscard]] Step next(std::string_view bytes);

  /// Body bytes handed out so far.
  [[nodiscard]] std::uint64_t body_bytes() const { return body_bytes_; }
  /// Bytes of the current chunk that are announced and not yet handed out.
  [[nodiscard]] std::uint64_t chunk_bytes_left() const { return left_; }

  /// Ready for another body.
  void reset() { *this = ChunkedDecoder(limits_); }

 private:
  enum class State : std::uint8_t {
    size_first,  // At the first digit of a chunk's size.
    size,
    extension_blank,  // Whitespace before a ';'.
    extension_name_first,
    extension_name,
    extension_name_blank,  // Whitespace after a name: ';' or '=' must follow.
    extension_value_first,
    extension_token,
    extension_quoted,
    extension_escaped,  // After a backslash within quotes.
    extension_quote_end,
    size_line_feed,
    data,
    data_carriage_return,
    data_line_feed,
    trailer_first,  // At the beginning of a trailer's line, or of the empty one.
    trailer_name,
    trailer_value,
    trailer_line_feed,
    last_line_feed,
    complete,
    error,
  };

  void take_byte(char c);
  void take_size(char c);
  void take_extension(char c);
  void take_trailer(char c);
  void end_size_line();
  void fail(const char* reason, int http_status = 400);

  ChunkedLimits limits_;
  State state_ = State::size_first;
  std::uint8_t size_digits_ = 0;
  std::uint16_t http_status_ = 0;
  std::uint32_t chunk_extension_bytes_ = 0;
  std::uint32_t extension_bytes_ = 0;
  std::uint32_t trailer_bytes_ = 0;
  std::uint64_t left_ = 0;  // Of the chunk's data; its size while that is being read.
  std::uint64_t body_bytes_ = 0;
  const char* reason_ = "";
};

}  // namespace sennit::http::h1
