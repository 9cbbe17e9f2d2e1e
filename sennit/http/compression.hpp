#pragma once
// Compression: a middleware that sends bodies as zstd or gzip to clients that accept it.
//
//   server.use(http::compression());
//
// Whole bodies, files and streams alike; a streamed piece leaves as soon as it is written. Left
// alone: bodies that are short, already coded, of types that do not get smaller, answers to ranges,
// and what says `Cache-Control: no-transform`. A response that could have been coded says
// `Vary: Accept-Encoding`; one that is gets a weak ETag, since other bytes are sent. A client that
// refuses every coding and identity too is answered 406.
//
// Thread safety: the middleware is called by every worker.

#include <cstddef>
#include <functional>
#include <memory>

#include "sennit/http/accept_encoding.hpp"
#include "sennit/http/body_encoder.hpp"
#include "sennit/http/middleware.hpp"

namespace sennit::http {

struct CompressionOptions {
  std::size_t body_bytes_min = 256;  // Shorter ones are not worth the header fields.
  int gzip_level = 5;                // 1 to 9.
  int zstd_level = 3;                // 1 to 19.
};

/// Requires a coding other than identity. Null without memory for it.
[[nodiscard]] std::shared_ptr<BodyEncoder> make_encoder(Coding coding,
                                                        const CompressionOptions& options = {});

[[nodiscard]] std::function<Task<Response>(Request&, Next)> compression(
    const CompressionOptions& options = {});

}  // namespace sennit::http
