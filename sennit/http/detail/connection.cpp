#include "sennit/http/detail/connection.hpp"

#include <algorithm>
#include <utility>

#include "sennit/http/detail/exchange.hpp"
#include "sennit/http/detail/worker_service.hpp"
#include "sennit/http/h1/serializer.hpp"

namespace sennit::http::detail {
namespace {

using runtime::io::Completion;
using runtime::io::Operation;

// A larger body is not copied behind its head but sent from where it is, with a send of its own.
constexpr std::size_t copied_body_bytes_max = 32 * 1024;
// Sent in one operation; between two of them slow peers are seen to make progress.
constexpr std::size_t send_bytes_max = 256 * 1024;
// A batch of pipelined answers ends when it has grown to this.
constexpr std::size_t batch_bytes_max = 64 * 1024;
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

Connection::Receiving::Receiving(Connection& c)
    : Operation([](Operation& operation, const Completion& completion) {
        static_cast<Receiving&>(operation).connection.received(completion);
      }),
      connection(c) {}

Connection::Sending::Sending(Connection& c)
    : Operation([](Operation& operation, const Completion& completion) {
        static_cast<Sending&>(operation).connection.sent(completion.result);
      }),
      connection(c) {}

Connection::Continuation::Continuation(Connection& c)
    : Job([](Job& job) {
        auto& self = static_cast<Continuation&>(job);
        self.is_queued = false;
        if (!self.connection.is_closed_) self.connection.process_unparsed();
        self.connection.delete_if_done();
      }),
      connection(c) {}

Connection::Connection(WorkerService& service, runtime::io::Socket socket)
    : service_(service),
      socket_(socket),
      receiving_(*this),
      sending_(*this),
      timer_(*this),
      continuation_(*this) {}

Connection::~Connection() = default;

void Connection::start() {
  // Spread by a tenth, so that connections opened together do not all end together.
  const auto idle_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(service_.options().idle_timeout);
  const auto spread = static_cast<std::uint64_t>(std::max<std::int64_t>(idle_ms.count() / 10, 0));
  idle_jitter_ms_ = static_cast<std::uint16_t>(
      service_.worker().random().below(std::min<std::uint64_t>(spread, UINT16_MAX) + 1));
  enter(Phase::first_byte);
  service_.worker().backend().receive(receiving_, socket_);
}

// ---- Receiving ------------------------------------------------------------------------------

void Connection::received(const Completion& completion) {
  if (!is_closed_) {
    if (completion.result > 0) {
      take(completion.bytes);
    } else if (completion.result != -ECANCELED) {
      peer_ended(completion.result);
    } else if (!must_wait()) {  // It was throttled, and meanwhile there is room again.
      service_.worker().backend().receive(receiving_, socket_);
    }
  }
  delete_if_done();
}

void Connection::take(std::string_view bytes) {
  if (phase_ == Phase::lingering) return;
  if (must_wait()) {
    unparsed_.append(bytes);
    return throttle();
  }
  if (unparsed_.empty()) {
    const std::size_t used = process(bytes);
    if (!is_closed_ && phase_ != Phase::lingering) unparsed_.append(bytes.substr(used));
  } else {
    unparsed_.append(bytes);
    process_unparsed();
  }
}

void Connection::throttle() {
  if (unparsed_.size() < service_.options().unread_bytes_max) return;
  service_.worker().backend().cancel(receiving_);
}

bool Connection::must_wait() const {
  return is_handling_ || continuation_.is_queued || sending_.in_flight();
}

void Connection::process_unparsed() {
  if (must_wait()) return;
  if (!unparsed_.empty()) {
    const std::size_t used = process(unparsed_.view());
    if (is_closed_ || phase_ == Phase::lingering) return unparsed_.release();
    unparsed_.consume(used);
    if (unparsed_.empty()) unparsed_.release();
  }
  if (must_wait()) return;
  if (peer_is_done_) return close();
  if (!receiving_.in_flight()) service_.worker().backend().receive(receiving_, socket_);
}

// Parses and answers requests until the bytes run out, a handler waits, or it is others' turn.
// Returns how many bytes are done with.
std::size_t Connection::process(std::string_view bytes) {
  std::size_t used = 0;
  bool makes_progress = true;
  is_processing_ = true;
  batch_count_ = 0;
  while (makes_progress && !ends_batch()) {
    const std::string_view rest = bytes.substr(used);
    if (exchange_ == nullptr) {
      if (rest.empty()) break;
      used += read_head(rest, makes_progress);
    } else {
      used += read_body(rest, makes_progress);
    }
  }
  is_processing_ = false;
  // Cut short for the sake of others: go on in the next turn, or when the answers have left.
  if (makes_progress && used < bytes.size() && !is_handling_ && !closes_after_) {
    continuation_.is_queued = true;
    service_.worker().schedule(continuation_);
  }
  flush();
  return used;
}

bool Connection::ends_batch() const {
  return is_handling_ || closes_after_ || !large_body_.empty() ||
         batch_count_ >= service_.options().pipelined_batch_max ||
         (output_ != nullptr && output_->size() >= batch_bytes_max);
}

std::size_t Connection::read_head(std::string_view bytes, bool& made_progress) {
  h1::RequestHead head;
  const h1::ParseOutcome outcome =
      h1::parse_request_head(bytes, service_.options().head_limits, head, scanned_);
  if (outcome.status == h1::ParseStatus::partial) {
    scanned_ = static_cast<std::uint32_t>(bytes.size());
    if (phase_ != Phase::head) enter(Phase::head);
    made_progress = false;
    return 0;
  }
  scanned_ = 0;
  if (outcome.status == h1::ParseStatus::error) {
    refuse(outcome.http_status, outcome.reason);
    return bytes.size();
  }
  more_waits_ = bytes.size() > head.head_bytes;
  begin_request(bytes.substr(0, head.head_bytes), head);
  return head.head_bytes;
}

void Connection::begin_request(std::string_view head_bytes, const h1::RequestHead& head) {
  exchange_ = service_.borrow_exchange();
  exchange_->request.assign(head_bytes, head);
  exchange_->body = head.body;
  exchange_->body_bytes_left = head.content_length;
  if (head.body == h1::Body::none) return dispatch();
  // A body that will not be wanted is refused before it is read.
  if (head.content_length > service_.options().body_bytes_max) {
    return refuse(413, "the body is larger than this server takes");
  }
  enter(Phase::body);
  if (head.expect_continue) output().append(continue_line);
}

std::size_t Connection::read_body(std::string_view bytes, bool& made_progress) {
  if (bytes.empty()) {
    made_progress = false;
    return 0;
  }
  if (exchange_->body == h1::Body::chunked) return read_chunks(bytes);
  const std::size_t part =
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), exchange_->body_bytes_left));
  exchange_->request.mutable_body().append(bytes.substr(0, part));
  exchange_->body_bytes_left -= part;
  more_waits_ = bytes.size() > part;
  enter(Phase::body);
  if (exchange_->body_bytes_left == 0) dispatch();
  return part;
}

std::size_t Connection::read_chunks(std::string_view bytes) {
  const h1::ChunkedDecoder::Step step = exchange_->chunks.next(bytes);
  if (step.status == h1::ParseStatus::error) {
    refuse(step.http_status, step.reason);
    return bytes.size();
  }
  // What a chunk announces counts at once, so that nobody holds a megabyte before the refusal.
  if (exchange_->chunks.body_bytes() + exchange_->chunks.chunk_bytes_left() >
      service_.options().body_bytes_max) {
    refuse(413, "the body is larger than this server takes");
    return bytes.size();
  }
  exchange_->request.mutable_body().append(step.data);
  if (!step.data.empty()) enter(Phase::body);
  more_waits_ = bytes.size() > step.consumed;
  if (step.status == h1::ParseStatus::complete) dispatch();
  return step.consumed;
}

void Connection::dispatch() {
  Request& request = exchange_->request;
  RouteParams params;
  const Router::Match match = service_.router().find(request.method(), request.path(), params);
  if (match.found == Router::Found::route) {
    request.set_params(params);
    phase_ = Phase::handling;
    is_handling_ = is_dispatching_ = true;
    exchange_->run(service_.handler(match.handler_index), *this);
    is_dispatching_ = false;
    return;
  }
  Response response;
  switch (match.found) {
    case Router::Found::options:
      response = empty(Status::no_content);
      break;
    case Router::Found::bad_request:
      response = problem(Status::bad_request, "the path has an escape that is not valid");
      break;
    case Router::Found::method_not_allowed:
      response = problem(Status::method_not_allowed);
      break;
    default:
      response = problem(Status::not_found);
  }
  if (!match.allowed.empty()) {
    const auto set = response.headers().set("Allow", to_string(match.allowed));
    SENNIT_ASSERT(set.has_value());
  }
  answer(response);
}

// ---- Answering ------------------------------------------------------------------------------

Buffer& Connection::output() {
  if (output_ == nullptr) output_ = service_.borrow_buffer();
  return *output_;
}

void Connection::handled() {
  is_handling_ = false;
  if (is_closed_) {
    release_exchange();
    if (!is_dispatching_) delete_if_done();
    return;
  }
  if (!is_dispatching_) more_waits_ = !unparsed_.empty();
  answer(exchange_->response);
  if (is_dispatching_) return;
  flush();
  if (!is_closed_ && phase_ != Phase::lingering) process_unparsed();
  delete_if_done();
}

void Connection::answer(const Response& response) {
  const Request& request = exchange_->request;
  // While the server stops, the last answer to what has arrived is the one that says so.
  const bool is_last = service_.is_draining() && !more_waits_;
  const bool keeps_alive = request.keep_alive() && !is_last && !response.closes_connection();
  const bool is_head = request.method() == Method::head;
  closes_after_ = !keeps_alive;
  ++batch_count_;
  if (&response == &exchange_->response && response.body().size() > copied_body_bytes_max) {
    if (h1::write_response_head(output(), response, is_head, keeps_alive, request.minor_version(),
                                service_.date_line())) {
      large_body_ = response.body();
      return;  // The exchange owns it; released when it is sent.
    }
  } else {
    h1::write_response(output(), response, is_head, keeps_alive, request.minor_version(),
                       service_.date_line());
  }
  release_exchange();
}

// For what is wrong with the message itself: nothing after it can be trusted.
void Connection::refuse(int status, std::string_view why) {
  if (exchange_ != nullptr) release_exchange();
  h1::write_response(output(), problem(static_cast<Status>(status), why), false, false, 1,
                     service_.date_line());
  closes_after_ = true;
}

void Connection::release_exchange() { service_.give_back(std::move(exchange_)); }

void Connection::flush() {
  while (!is_closed_ && !sending_.in_flight()) {
    std::string_view piece = large_body_.substr(0, send_bytes_max);
    if (output_ != nullptr && !output_->empty()) piece = output_->view();
    if (piece.empty()) break;
    if (!service_.worker().backend().send(sending_, socket_, piece)) return watch_send();
    if (!finish_send(sending_.result())) return;
  }
  if (!is_closed_) after_answers();
}

// False when the connection is lost.
bool Connection::finish_send(int result) {
  if (result < 0) {
    close();
    return false;
  }
  if (output_ != nullptr) {
    service_.give_back(std::move(output_));
  } else {
    large_body_.remove_prefix(static_cast<std::size_t>(result));
    if (large_body_.empty()) release_exchange();
  }
  return true;
}

void Connection::sent(int result) {
  if (!is_closed_ && finish_send(result)) {
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
