// Connection's part in bodies that flow: handing out a request's as it arrives, sending a
// response's as it is made.

#include <utility>

#include "sennit/http/detail/connection.hpp"
#include "sennit/http/detail/exchange.hpp"
#include "sennit/http/detail/worker_service.hpp"
#include "sennit/http/h1/serializer.hpp"
#include "sennit/http/status.hpp"

namespace sennit::http::detail {
namespace {

// A larger piece is sent from where it is, and its writer waits until it is.
constexpr std::size_t copied_piece_bytes_max = 32 * 1024;

}  // namespace

// ---- The request's body ---------------------------------------------------------------------

bool Connection::has_body() {
  Exchange& exchange = *exchange_;
  if (std::exchange(exchange.expects_continue, false) && !is_closed_) {
    output().append(continue_line);
    if (!is_processing_) flush();
  }
  if (!exchange.piece) lend_body();
  return exchange.piece.has_value() || exchange.body_failure != 0 || is_closed_;
}

// Decodes up to the next piece, as far as bytes have arrived. They move from unparsed_ to `lent`,
// whose memory stays where it is while the handler looks at it.
void Connection::lend_body() {
  Exchange& exchange = *exchange_;
  exchange.lent.consume(std::exchange(exchange.lent_bytes, 0));
  while (exchange.body_failure == 0 && !is_closed_) {
    if (exchange.body_is_done) {
      exchange.piece = std::string_view();
      return;
    }
    if (exchange.lent.empty()) {
      if (is_processing_) return;  // The bytes are elsewhere; find_body() comes afterwards.
      if (unparsed_.empty()) {
        if (peer_is_done_) fail_body(400, "the client ended in the middle of it");
        return;
      }
      std::swap(exchange.lent, unparsed_);
      unparsed_.clear();
      if (!receiving_.in_flight() && !peer_is_done_) {
        service_.worker().backend().receive(receiving_, socket_);
      }
    }
    std::string_view piece;
    const std::size_t used = decode_body(exchange.lent.view(), piece);
    if (exchange.body_failure != 0) return;
    if (piece.empty()) {
      exchange.lent.consume(used);
      continue;
    }
    exchange.lent_bytes = used;
    exchange.piece = piece;
    return;
  }
}

Result<std::string_view> Connection::take_body() {
  Exchange& exchange = *exchange_;
  if (exchange.piece) return *std::exchange(exchange.piece, std::nullopt);
  if (exchange.body_failure != 0) return failure(exchange.body_error);
  return failure(Errc::connection_reset, "read a request's body");
}

void Connection::wait_for_body(runtime::Waiter& waiter) {
  exchange_->body_waiter = &waiter;
  exchange_->body_started = phase_started_ = service_.worker().now();
  if (!timer_.is_armed() || due() < timer_due_) arm();
}

bool Connection::stop_waiting_for_body() {
  return std::exchange(exchange_->body_waiter, nullptr) != nullptr;
}

// Bytes have arrived, or the peer has ended.
void Connection::find_body() {
  if (exchange_ == nullptr || exchange_->body_waiter == nullptr) return;
  lend_body();
  phase_started_ = service_.worker().now();
  if (exchange_->piece || exchange_->body_failure != 0) wake_body_waiter();
}

void Connection::wake_body_waiter() {
  if (exchange_ == nullptr || exchange_->body_waiter == nullptr) return;
  exchange_->body_waited += service_.worker().now() - exchange_->body_started;
  std::exchange(exchange_->body_waiter, nullptr)->wake();
}

// What the handler was lent and is no longer looking at goes back to the front of unparsed_: the
// rest of the body, which is dropped, or the next request.
void Connection::return_unread() {
  Exchange& exchange = *exchange_;
  exchange.lent.consume(std::exchange(exchange.lent_bytes, 0));
  if (exchange.lent.empty()) return;
  exchange.lent.append(unparsed_.view());
  std::swap(exchange.lent, unparsed_);
}

// ---- The response's body --------------------------------------------------------------------

bool Connection::begin_stream() {
  if (is_closed_ || exchange_->body_failure != 0) return false;
  const Response& response = exchange_->response;
  const bool has_body = exchange_->request.method() != Method::head &&
                        !is_bodiless(response.status()) && response.content_length() != 0;
  if (!has_body) return false;
  bool follows = false;
  if (exchange_->is_streamed && !is_processing_) more_waits_ = !unparsed_.empty();
  write_head_of(response, follows);
  exchange_->stream_has_begun = true;
  exchange_->cancel_at = TimePoint::max();  // A body may take its time, as long as it is read.
  exchange_->is_chunked = !response.content_length() && exchange_->request.minor_version() != 0;
  exchange_->stream_bytes_left = response.content_length();
  if (!is_processing_) flush();
  return !is_closed_;
}

bool Connection::has_room() const {
  return large_body_.empty() &&
         (output_ == nullptr || output_->size() < service_.options().output_bytes_max);
}

// As a chunk where there are chunks; nothing at all ends the body.
void Connection::append_chunk(std::string_view bytes) {
  Exchange& exchange = *exchange_;
  const bool is_last = bytes.empty();
  std::string coded;
  if (const auto& encoder = exchange.response.transfer()->encoder) {
    encoder->encode(bytes, is_last, !is_last, coded);
    bytes = coded;
  }
  if (!bytes.empty()) {
    if (exchange.is_chunked) h1::write_chunk_head(output(), bytes.size(), !exchange.has_chunks);
    exchange.has_chunks = true;
    output().append(bytes);
  }
  if (is_last && exchange.is_chunked) h1::write_chunk_head(output(), 0, !exchange.has_chunks);
}

bool Connection::write(std::string_view bytes) {
  Exchange& exchange = *exchange_;
  if (is_closed_ || bytes.empty()) return true;
  if (exchange.stream_bytes_left) {
    if (bytes.size() > *exchange.stream_bytes_left) exchange.stream_failed = true;
    if (exchange.stream_failed) return true;
    *exchange.stream_bytes_left -= bytes.size();
  }
  if (exchange.response.transfer()->encoder == nullptr && bytes.size() > copied_piece_bytes_max) {
    if (exchange.is_chunked) h1::write_chunk_head(output(), bytes.size(), !exchange.has_chunks);
    exchange.has_chunks = true;
    large_body_ = bytes;
  } else {
    append_chunk(bytes);
  }
  if (!is_processing_) flush();
  // Closed with the bytes still in the kernel's hands: they must stay until it gives them back.
  return has_room() || (is_closed_ && !sending_.in_flight());
}

void Connection::wait_for_room(runtime::Waiter& waiter) { exchange_->room_waiter = &waiter; }

bool Connection::stop_waiting_for_room() {
  if (exchange_->room_waiter == nullptr) return false;
  if (large_body_.empty() || !sending_.in_flight()) {
    if (!large_body_.empty()) close();  // Not all of a chunk will be sent.
    return std::exchange(exchange_->room_waiter, nullptr) != nullptr;
  }
  exchange_->write_cancelled = true;
  service_.worker().backend().cancel(sending_);  // It is woken when the kernel has let go.
  return false;
}

void Connection::wake_room_waiter() {
  if (exchange_ == nullptr || exchange_->room_waiter == nullptr) return;
  if (is_closed_ ? sending_.in_flight() : !has_room()) return;
  std::exchange(exchange_->room_waiter, nullptr)->wake();
}

Result<void> Connection::write_result() {
  if (exchange_->write_cancelled) return failure(Errc::cancelled, "send a response's body");
  if (is_closed_) return failure(Errc::connection_reset, "send a response's body");
  if (exchange_->stream_failed) {
    return failure(Errc::invalid_argument, "send more of a body than was announced");
  }
  return {};
}

// What was announced is complete, or the connection ends so that the client can tell.
void Connection::end_stream() {
  Exchange& exchange = *exchange_;
  ++batch_count_;
  exchange.is_answered = true;
  if (exchange.stream_bytes_left.value_or(0) > 0) exchange.stream_failed = true;
  if (exchange.stream_failed || exchange.body_failure != 0) {
    closes_after_ = true;
    large_body_ = {};
  } else {
    append_chunk({});
  }
  release_if_done();
}

}  // namespace sennit::http::detail
