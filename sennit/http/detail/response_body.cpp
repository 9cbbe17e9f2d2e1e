#include "sennit/http/detail/response_body.hpp"

#include <algorithm>
#include <utility>

#include "sennit/base/assert.hpp"

namespace sennit::http::detail {

ResponseBody::ResponseBody(service::Lease lease, ContentCoding coding, const DecodeLimits& limits,
                           Deadline deadline)
    : lease_(std::move(lease)),
      kind_(static_cast<ClientWire&>(*lease_->get()).body_kind()),
      left_(static_cast<ClientWire&>(*lease_->get()).content_length()),
      coding_(coding),
      decoder_(coding, limits),
      deadline_(deadline) {
  if (kind_ == h1::Body::none) {
    at_end_ = true;
    release();
  }
}

ClientError ResponseBody::error(Errc code, std::string doing) const {
  return ClientError(Phase::body, Error(code, std::move(doing)));
}

ClientError ResponseBody::broken_off() const {
  const auto& reason = wire().connection().end_error();
  if (reason) return ClientError(Phase::body, *reason);
  return error(Errc::closed, "read the rest of a body");
}

std::expected<std::string_view, ClientError> ResponseBody::next_piece() {
  const std::string_view bytes = wire().connection().received();
  switch (kind_) {
    case h1::Body::length:
      return bytes.substr(0,
                          static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
    case h1::Body::until_close:
      return bytes;
    case h1::Body::chunked:
      break;
    case h1::Body::none:
      return std::string_view();
  }
  if (piece_bytes_ > 0) return bytes.substr(0, piece_bytes_);
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto step = chunks_.next(rest);
    if (step.status == h1::ParseStatus::error) {
      return std::unexpected(
          error(Errc::malformed, std::string("read a chunked body (") + step.reason + ")"));
    }
    if (!step.data.empty()) {
      const std::size_t before = static_cast<std::size_t>(step.data.data() - bytes.data());
      behind_piece_ = static_cast<std::size_t>(rest.data() - bytes.data()) + step.consumed -
                      before - step.data.size();
      // Framing before the data goes now, which moves no byte of what is left.
      wire().connection().consume(before);
      piece_bytes_ = step.data.size();
      return step.data;
    }
    rest.remove_prefix(step.consumed);
    at_end_ = step.status == h1::ParseStatus::complete;
    if (at_end_ || step.consumed == 0) break;
  }
  wire().connection().consume(bytes.size() - rest.size());
  return std::string_view();
}

void ResponseBody::consume_piece(std::size_t bytes) {
  if (kind_ == h1::Body::length) {
    left_ -= bytes;
    at_end_ = left_ == 0;
  } else if (kind_ == h1::Body::chunked) {
    piece_bytes_ -= bytes;
    if (piece_bytes_ == 0) bytes += std::exchange(behind_piece_, 0);
  }
  wire().connection().consume(bytes);
}

Task<std::expected<void, ClientError>> ResponseBody::wait_for_more() {
  service::Connection& connection = wire().connection();
  const std::size_t seen = connection.received().size();
  if (connection.has_ended()) {
    if (kind_ != h1::Body::until_close || connection.end_error()) {
      co_return std::unexpected(broken_off());
    }
    at_end_ = true;
    co_return std::expected<void, ClientError>();
  }
  const Result<void> waited = co_await connection.wait_received(seen, deadline_);
  if (!waited) co_return std::unexpected(ClientError(Phase::body, waited.error()));
  co_return std::expected<void, ClientError>();
}

// The wire's body is over: so is our use of the connection.
void ResponseBody::release() {
  if (!lease_) return;
  if (wire().is_reusable()) lease_->give_back();
  lease_.reset();
}

std::expected<void, ClientError> ResponseBody::finish() {
  release();
  if (auto whole = decoder_.finish(); !whole) {
    return std::unexpected(ClientError(Phase::body, std::move(whole).error()));
  }
  return {};
}

// All that is there already, as far as there is room: a body of many small chunks costs no more
// calls than another.
std::size_t ResponseBody::read_ready(std::span<char> room) {
  std::size_t total = 0;
  while (!failed_ && total < room.size()) {
    std::string_view input;
    if (!at_end_) {
      std::expected<std::string_view, ClientError> piece = next_piece();
      if (!piece) {
        failed_ = std::move(piece).error();
        break;
      }
      input = *piece;
    }
    if (input.empty() && !may_hold_more_) break;
    const std::size_t had = input.size();
    const std::span<char> left = room.subspan(total);
    const Result<std::size_t> written = decoder_.decode(input, left);
    if (!written) {
      failed_ = ClientError(Phase::body, written.error());
      break;
    }
    if (had > 0) consume_piece(had - input.size());
    may_hold_more_ = coding_ != ContentCoding::identity && *written == left.size();
    total += *written;
  }
  // The connection is free as early as it can be, not when its user looks again.
  if (at_end_ && !failed_) release();
  return total;
}

Task<std::expected<std::size_t, ClientError>> ResponseBody::read(std::span<char> room) {
  SENNIT_ASSERT(!room.empty());
  while (!failed_) {
    const std::size_t bytes = read_ready(room);
    if (bytes > 0) co_return bytes;
    if (failed_) break;
    if (at_end_) {
      if (auto finished = finish(); !finished) {
        failed_ = std::move(finished).error();
        break;
      }
      co_return std::size_t{0};
    }
    std::expected<void, ClientError> waited = co_await wait_for_more();
    if (!waited) failed_ = std::move(waited).error();
  }
  lease_.reset();
  co_return std::unexpected(*failed_);
}

Task<std::expected<std::string, ClientError>> ResponseBody::read_all(std::size_t bytes_max) {
  constexpr std::size_t room_bytes = std::size_t{16} * 1024;
  std::string all;
  if (kind_ == h1::Body::length && coding_ == ContentCoding::identity) {
    if (left_ > bytes_max) {
      lease_.reset();
      co_return std::unexpected(error(Errc::limit_reached, "hold a body of that length"));
    }
    if (!at_end_ && wire().connection().received().size() >= left_) {  // All is there: one copy.
      all.assign(wire().connection().received().substr(0, static_cast<std::size_t>(left_)));
      consume_piece(all.size());
      release();
      co_return all;
    }
  }
  for (;;) {
    const std::size_t before = all.size();
    all.resize(before + std::min(room_bytes, bytes_max - before + 1));
    const std::span<char> room = std::span<char>(all).subspan(before);
    std::expected<std::size_t, ClientError> bytes = co_await read(room);
    if (!bytes) co_return std::unexpected(std::move(bytes).error());
    all.resize(before + *bytes);
    if (*bytes == 0) co_return all;
    if (all.size() > bytes_max) {
      lease_.reset();
      co_return std::unexpected(error(Errc::limit_reached, "hold a body of that length"));
    }
  }
}

Task<void> ResponseBody::discard(std::size_t bytes_max) {
  char room[2048];
  std::size_t total = 0;
  while (lease_ && total <= bytes_max) {
    if (kind_ == h1::Body::until_close || left_ > bytes_max) break;
    const std::span<char> all = room;
    std::expected<std::size_t, ClientError> bytes = co_await read(all);
    if (!bytes || *bytes == 0) break;
    total += *bytes;
  }
  lease_.reset();
}

}  // namespace sennit::http::detail
