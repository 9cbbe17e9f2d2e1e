#pragma once
// BodyDecoder: takes compression off a body, piece by piece, and does not let it explode.
//
//   BodyDecoder decoder(ContentCoding::gzip, limits);
//   while (!input.empty()) SENNIT_TRY(auto bytes, decoder.decode(input, room));   // Takes from
//   input. SENNIT_TRY(..., decoder.finish());   // At the end: was it whole?
//
// A small body can stand for a huge one ("zip bomb"), so what comes out is bounded: at most
// ratio_max times what went in, once it is more than ratio_free_bytes. Output goes to the caller's
// room, so that memory is bounded whatever the ratio.
//
// Thread safety: none. Memory: zlib's 40 KiB, or zstd's window, at most window_bytes_max.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sennit/base/result.hpp"

namespace sennit::http {

enum class ContentCoding : unsigned char { identity, gzip, zstd };

/// Of a Content-Encoding field: "gzip", "x-gzip", "zstd", "identity", in any case. Nothing for
/// codings that are not known, and for several.
[[nodiscard]] std::optional<ContentCoding> content_coding_from_name(std::string_view name);

struct DecodeLimits {
  double ratio_max = 200;  // gzip's own greatest is 1032; text seldom passes 20.
  std::uint64_t ratio_free_bytes = std::uint64_t{1024} * 1024;
  std::size_t window_bytes_max = std::size_t{8} * 1024 * 1024;  // As RFC 9659 asks of zstd.
};

class BodyDecoder {
 public:
  BodyDecoder(ContentCoding coding, const DecodeLimits& limits);
  ~BodyDecoder();
  BodyDecoder(BodyDecoder&& other) noexcept;
  BodyDecoder& operator=(BodyDecoder&& other) noexcept;

  /// Takes from the front of `input` and writes to `room`, which must not be empty; the number of
  /// bytes written. 0 with an empty input: more is needed. Call again with an empty input as long
  /// as all of `room` was used: there may be more inside. Errors: malformed, also for bytes after
  /// the end; limit_reached by the ratio; out_of_memory.
  [[nodiscard]] Result<std::size_t> decode(std::string_view& input, std::span<char> room);
  /// Errors: malformed if the compressed stream is not whole. An empty body is.
  [[nodiscard]] Result<void> finish() const;

  [[nodiscard]] std::uint64_t bytes_in() const { return bytes_in_; }
  [[nodiscard]] std::uint64_t bytes_out() const { return bytes_out_; }

 private:
  class Codec;
  class Gzip;
  class Zstd;
  std::unique_ptr<Codec> codec_;  // Null for identity.
  DecodeLimits limits_;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t bytes_out_ = 0;
};

}  // namespace sennit::http
