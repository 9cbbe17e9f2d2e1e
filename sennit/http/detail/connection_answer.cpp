// Connection's answers: how they are written, and how they are sent.

#include <algorithm>
#include <utility>

#include "sennit/base/log.hpp"
#include "sennit/http/detail/connection.hpp"
#include "sennit/http/detail/exchange.hpp"
#include "sennit/http/detail/worker_service.hpp"
#include "sennit/http/h1/serializer.hpp"

namespace sennit::http::detail {
namespace {

// A larger body is not copied behind its head but sent from where it is, with a send of its own.
constexpr std::size_t copied_body_bytes_max = 32 * 1024;
// Sent in one operation; between two of them slow peers are seen to make progress.
constexpr std::size_t send_bytes_max = 256 * 1024;
// Sent in one turn.
constexpr std::size_t flush_bytes_max = 1024 * 1024;
// Read from a file at a time.
constexpr std::size_t file_piece_bytes = 128 * 1024;
// An unread body of a declared length up to this is received and dropped rather than cut off.
constexpr std::uint64_t dropped_body_bytes_max = 256 * 1024;

}  // namespace

Buffer& Connection::output() {
  if (output_ == nullptr) output_ = service_.borrow_buffer();
  return *output_;
}

namespace {

metrics::Outcome outcome_of(const Exchange& exchange, Status status) {
  const auto code = static_cast<int>(status);
  if (code < 400) return metrics::Outcome::ok;
  if (code < 500) return metrics::Outcome::client_error;
  if (exchange.is_cancelled && exchange.times_out) return metrics::Outcome::timed_out;
  if (code == 503) return metrics::Outcome::rejected;
  return metrics::Outcome::server_error;
}

}  // namespace

// Whether another request can follow this one.
bool Connection::may_go_on(const Response& response) const {
  const Request& request = exchange_->request;
  // While the server stops, the last answer to what has arrived is the one that says so; and so is
  // any answer after a while, or a client that never stops asking would keep us for ever.
  const bool is_last = service_.is_draining() && (!more_waits_ || service_.announces_each_answer());
  if (!request.keep_alive() || is_last || response.closes_connection()) return false;
  if (!response.content_length().has_value() && request.minor_version() == 0) return false;
  if (service_.options().connection_age_max != Duration::max() &&
      service_.worker().now() - accepted_at_ >= service_.options().connection_age_max) {
    return false;
  }
  if (exchange_->body_is_done) return true;
  // A client that waits for a Continue may or may not send its body now: nobody can tell.
  return !exchange_->expects_continue && exchange_->body_bytes_left <= dropped_body_bytes_max;
}

void Connection::write_head_of(const Response& response, bool& has_body) {
  const Request& request = exchange_->request;
  const bool keeps_alive = may_go_on(response);
  closes_after_ = !keeps_alive;
  exchange_->outcome = outcome_of(*exchange_, response.status());
  has_body = h1::write_response_head(output(), response, request.method() == Method::head,
                                     keeps_alive, request.minor_version(), service_.date_line());
}

void Connection::answer(const Response& response) {
  ++batch_count_;
  exchange_->is_answered = true;
  if (!response.is_whole()) {
    bool has_body = false;
    write_head_of(response, has_body);
    exchange_->is_chunked = !response.content_length() && exchange_->request.minor_version() != 0;
    // A stream is not written here; nor is the body of another response than the exchange's.
    if (!has_body) return release_if_done();
    if (response.transfer()->file != nullptr) {
      exchange_->sends_file = true;
    } else {
      append_chunk(response.body());
      append_chunk({});
    }
  } else if (&response == &exchange_->response && response.body().size() > copied_body_bytes_max) {
    bool has_body = false;
    write_head_of(response, has_body);
    if (has_body) large_body_ = response.body();  // The exchange owns it until it is sent.
  } else {
    const Request& request = exchange_->request;
    const bool keeps_alive = may_go_on(response);
    closes_after_ = !keeps_alive;
    exchange_->outcome = outcome_of(*exchange_, response.status());
    h1::write_response(output(), response, request.method() == Method::head, keeps_alive,
                       request.minor_version(), service_.date_line());
  }
  release_if_done();
}

// For what is wrong with the message itself: nothing after it can be trusted.
void Connection::refuse(int status, std::string_view why) {
  if (exchange_ != nullptr) {
    exchange_->outcome = outcome_of(*exchange_, static_cast<Status>(status));
    release_exchange();
  }
  service_.metrics().refused(status);
  h1::write_response(output(), problem(static_cast<Status>(status), why), false, false, 1,
                     service_.date_line());
  closes_after_ = true;
}

void Connection::release_if_done() {
  Exchange& exchange = *exchange_;
  if (!exchange.is_answered || exchange.sends_file || !large_body_.empty()) return;
  if (!exchange.body_is_done && !closes_after_) return enter(Phase::body);
  release_exchange();
}

void Connection::release_exchange() {
  service_.count(*exchange_);
  service_.give_back(std::move(exchange_));
}

// What is to be sent next; empty if there is nothing.
std::string_view Connection::next_to_send() {
  if (output_ == nullptr || output_->empty()) {
    if (!large_body_.empty()) return large_body_.substr(0, send_bytes_max);
    if (exchange_ != nullptr && exchange_->sends_file) read_file();
    if (is_closed_ || output_ == nullptr || output_->empty()) return {};
  }
  sending_buffer_ = std::move(output_);
  return sending_buffer_->view();
}

void Connection::flush() {
  std::size_t bytes_sent = 0;
  while (!is_closed_ && !sending_.in_flight()) {
    if (bytes_sent >= flush_bytes_max && !continuation_.is_queued) {
      continuation_.is_queued = true;  // A peer that takes everything at once is not the only one.
      return service_.worker().schedule(continuation_);
    }
    const std::string_view piece = next_to_send();
    if (piece.empty()) break;
    bytes_sent += piece.size();
    if (!service_.worker().backend().send(sending_, socket_, piece)) return watch_send();
    if (!finish_send(sending_.result())) return;
  }
  if (!is_closed_ && !sending_.in_flight()) after_answers();
}

// False when the connection is lost.
bool Connection::finish_send(int result) {
  if (result < 0) {
    close();
    return false;
  }
  if (sending_buffer_ != nullptr) {
    if (output_ == nullptr && exchange_ != nullptr && exchange_->sends_file) {
      sending_buffer_->clear();
      output_ = std::move(sending_buffer_);  // The file's next piece fits it.
    } else {
      service_.give_back(std::move(sending_buffer_));
    }
  } else {
    large_body_.remove_prefix(static_cast<std::size_t>(result));
    if (large_body_.empty() && exchange_ != nullptr) release_if_done();
  }
  wake_room_waiter();
  return true;
}

// Brings the next piece of the exchange's file into output_.
void Connection::read_file() {
  Transfer& transfer = *exchange_->response.transfer();
  std::string encoded_from;
  Buffer& out = output();
  std::span<char> room;
  if (transfer.encoder == nullptr) {
    room = out.prepare(file_piece_bytes);
  } else {
    encoded_from.resize(file_piece_bytes);
    room = encoded_from;
  }
  const Result<std::size_t> got = transfer.file->read(room.first(file_piece_bytes));
  if (!got) {  // The length was announced: ending is all that can still tell the client.
    log::error("a response is cut short: could not {}", got.error().to_string());
    return close();
  }
  if (*got == 0) {
    exchange_->sends_file = false;
    if (exchange_->is_chunked || transfer.encoder != nullptr) append_chunk({});
    return release_if_done();
  }
  if (transfer.encoder == nullptr) {
    out.commit(*got);
  } else {
    append_chunk(std::string_view(encoded_from).substr(0, *got));
  }
}

void Connection::sent(int result) {
  if (is_closed_) {
    wake_room_waiter();  // What it lent us is its own again.
  } else if (finish_send(result)) {
    flush();
    if (!is_closed_ && phase_ != Phase::lingering) process_unparsed();
  }
  delete_if_done();
}

// Everything written has been taken by the kernel.
void Connection::after_answers() {
  if (is_handling_) return;
  if (closes_after_) return linger();
  if (exchange_ == nullptr && phase_ != Phase::head && phase_ != Phase::first_byte) {
    enter(Phase::idle);
  }
}

}  // namespace sennit::http::detail
