#pragma once
// ResponseBody: reads the body behind a head that a ClientWire has read, and returns the connection
// to its pool when it has come to a clean end.
//
// Thread safety: none.

#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sennit/http/body_decoder.hpp"
#include "sennit/http/client_error.hpp"
#include "sennit/http/detail/client_wire.hpp"
#include "sennit/http/h1/chunked.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/service/pool.hpp"

namespace sennit::http::detail {

class ResponseBody {
 public:
  /// The lease holds a ClientWire that has an answer.
  ResponseBody(service::Lease lease, ContentCoding coding, const DecodeLimits& limits,
               Deadline deadline);
  ~ResponseBody() = default;

  /// At least one byte, or 0 at the end.
  Task<std::expected<std::size_t, ClientError>> read(std::span<char> room);
  /// All of it, at most `bytes_max`.
  Task<std::expected<std::string, ClientError>> read_all(std::size_t bytes_max);
  /// To the end and to the pool if at most `bytes_max` are left, so that the connection survives;
  /// else it is dropped.
  Task<void> discard(std::size_t bytes_max);

 private:
  /// What is there of the body as it is on the wire; empty if there is nothing yet.
  std::expected<std::string_view, ClientError> next_piece();
  std::size_t read_ready(std::span<char> room);
  /// Bytes of next_piece() that are done with.
  void consume_piece(std::size_t bytes);
  Task<std::expected<void, ClientError>> wait_for_more();
  void release();
  std::expected<void, ClientError> finish();
  [[nodiscard]] ClientError error(Errc code, std::string doing) const;
  [[nodiscard]] ClientError broken_off() const;
  [[nodiscard]] ClientWire& wire() const { return static_cast<ClientWire&>(*lease_->get()); }

  std::optional<service::Lease> lease_;  // Empty once it was given back or dropped.
  std::optional<ClientError> failed_;
  const h1::Body kind_;
  std::uint64_t left_;  // Of a body of known length.
  h1::ChunkedDecoder chunks_;
  std::size_t piece_bytes_ = 0;   // Of a chunk's data, at the front of what was received.
  std::size_t behind_piece_ = 0;  // Framing on the wire, to be consumed with the piece's end.
  bool at_end_ = false;           // Of the wire's body.
  const ContentCoding coding_;
  BodyDecoder decoder_;
  bool may_hold_more_ = false;  // The decoder filled the room: ask it again before the wire.
  const Deadline deadline_;
};

}  // namespace sennit::http::detail
