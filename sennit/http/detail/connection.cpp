#include "sennit/http/detail/connection.hpp"

#include <algorithm>
#include <utility>

#include "sennit/http/detail/exchange.hpp"
#include "sennit/http/detail/worker_service.hpp"

namespace sennit::http::detail {
namespace {

using runtime::io::Completion;
using runtime::io::Operation;
// A batch of pipelined answers ends when it has grown to this.
constexpr std::size_t batch_bytes_max = 64 * 1024;
// What nobody reads of a body is received and dropped up to this, so that the connection can go on.
constexpr std::uint64_t dropped_body_bytes_max = 256 * 1024;

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
        if (!self.connection.is_closed_) self.connection.flush();
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
  accepted_at_ = service_.worker().now();
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
    } else if (!must_wait() || unparsed_.size() < service_.options().unread_bytes_max) {
      // It was throttled, and meanwhile there is room again.
      service_.worker().backend().receive(receiving_, socket_);
    }
  }
  delete_if_done();
}

void Connection::take(std::string_view bytes) {
  if (phase_ == Phase::lingering) return;
  if (must_wait()) {
    unparsed_.append(bytes);
    find_body();
    return throttle();
  }
  if (unparsed_.empty()) {
    const std::size_t used = process(bytes);
    if (!is_closed_ && phase_ != Phase::lingering) unparsed_.append(bytes.substr(used));
    find_body();
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
    find_body();
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
    if (rest.empty()) break;
    used +=
        exchange_ == nullptr ? read_head(rest, makes_progress) : read_body(rest, makes_progress);
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
         (exchange_ != nullptr && exchange_->sends_file) ||
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
  exchange_->started = service_.worker().now();
  exchange_->request.assign(head_bytes, head);
  if (head.body == h1::Body::none) {
    if (route()) run_handler();
    return;
  }
  exchange_->body = head.body;
  exchange_->body_bytes_left = head.content_length;
  exchange_->body_is_done = false;
  exchange_->expects_continue = head.expect_continue;
  exchange_->body_started = exchange_->started;
  if (!route()) return;  // Nobody wants the body.
  // A body that will not be wanted is refused before it is read.
  if (head.content_length > body_bytes_max()) {
    return refuse(413, "the body is larger than this server takes");
  }
  if (exchange_->is_streamed) return run_handler();
  enter(Phase::body);
  if (std::exchange(exchange_->expects_continue, false)) output().append(continue_line);
}

// True if a handler is to run; else the answer is written.
bool Connection::route() {
  Exchange& exchange = *exchange_;
  Request& request = exchange.request;
  RouteParams params;
  exchange.match = service_.router().find(request.method(), request.path(), params);
  request.set_match(&exchange.match);
  request.set_state(&service_.state());
  exchange.route = &service_.served(exchange.match);
  if (exchange.match.found == Router::Found::route) request.set_params(params);
  if (!service_.admit(exchange)) [[unlikely]] {
    Response response = problem(Status::service_unavailable, "the server is busy");
    const auto set = response.headers().set("Retry-After", "1");
    SENNIT_ASSERT(set.has_value());
    answer(response);
    return false;
  }
  if (exchange.route->handler == nullptr) {
    answer(unmatched_response(exchange.match));
    return false;
  }
  exchange.is_streamed = exchange.route->streams_body;
  return true;
}

std::uint64_t Connection::body_bytes_max() const {
  const ServedRoute& route = *exchange_->route;
  if (exchange_->is_answered) return dropped_body_bytes_max;
  if (exchange_->match.found != Router::Found::route) return UINT64_MAX;  // Nobody will read it.
  return route.streams_body ? route.stream_bytes_max : route.body_bytes_max;
}

std::size_t Connection::read_body(std::string_view bytes, bool& made_progress) {
  Exchange& exchange = *exchange_;
  if (exchange.body_is_done) {  // The answer is still being sent.
    made_progress = false;
    return 0;
  }
  std::string_view piece;
  const bool is_dropped = exchange.is_answered;
  const std::size_t used = decode_body(bytes, piece);
  if (exchange.body_failure != 0) {
    if (is_dropped) {
      closes_after_ = true;
    } else {
      refuse(exchange.body_failure, exchange.body_failure_reason);
    }
    return bytes.size();
  }
  if (!piece.empty()) enter(Phase::body);
  more_waits_ = bytes.size() > used;
  if (is_dropped) {
    release_if_done();
    return used;
  }
  exchange.request.mutable_body().append(piece);
  if (exchange.body_is_done) run_handler();
  return used;
}

// Takes a piece of the body from the front of `bytes`, and says how many bytes that were with what
// frames it. What is wrong with it is in body_failure.
std::size_t Connection::decode_body(std::string_view bytes, std::string_view& piece) {
  Exchange& exchange = *exchange_;
  if (exchange.body == h1::Body::length) {
    const auto part =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), exchange.body_bytes_left));
    piece = bytes.substr(0, part);
    exchange.body_bytes_left -= part;
    exchange.body_bytes += part;
    exchange.body_is_done = exchange.body_bytes_left == 0;
    return part;
  }
  const h1::ChunkedDecoder::Step step = exchange.chunks.next(bytes);
  if (step.status == h1::ParseStatus::error) {
    fail_body(step.http_status, step.reason);
    return 0;
  }
  // What a chunk announces counts at once, so that nobody holds a megabyte before the refusal.
  if (exchange.chunks.body_bytes() + exchange.chunks.chunk_bytes_left() > body_bytes_max()) {
    fail_body(413, "the body is larger than this server takes");
    return 0;
  }
  piece = step.data;
  exchange.body_bytes += step.data.size();
  exchange.body_is_done = step.status == h1::ParseStatus::complete;
  return step.consumed;
}

void Connection::fail_body(int status, const char* why) {
  Errc code = Errc::malformed;
  if (status == 408) code = Errc::timed_out;
  if (status == 413) code = Errc::limit_reached;
  exchange_->body_failure = status;
  exchange_->body_failure_reason = why;
  exchange_->body_error = Error(code, std::string("read a request's body: ") + why);
}

void Connection::run_handler() {
  phase_ = Phase::handling;
  is_handling_ = is_dispatching_ = true;
  if (exchange_->route->timeout != Duration::max()) {
    exchange_->cancel_at = service_.worker().now() + exchange_->route->timeout;
    exchange_->times_out = true;
  }
  exchange_->run(*exchange_->route->handler, *this);
  is_dispatching_ = false;
  if (is_handling_ && peer_is_done_) cancel_for_absent_client();  // It came behind another.
  if (is_handling_ && exchange_->cancel_at < timer_due_) arm();
}

void Connection::handled() {
  is_handling_ = false;
  if (is_closed_) {
    release_exchange();
    if (!is_dispatching_) delete_if_done();
    return;
  }
  if (exchange_->is_abandoned) {
    release_exchange();
    flush();
    return delete_if_done();
  }
  if (exchange_->is_streamed) return_unread();
  if (!is_dispatching_) more_waits_ = exchange_->body_is_done && !unparsed_.empty();
  if (exchange_->stream_has_begun) {
    end_stream();
  } else if (exchange_->body_failure != 0) {
    refuse(exchange_->body_failure, exchange_->body_failure_reason);
  } else {
    if (exchange_->is_cancelled && exchange_->times_out) {
      exchange_->response = problem(Status::service_unavailable, "the handler took too long");
    }
    answer(exchange_->response);
  }
  if (is_dispatching_) return;
  flush();
  if (!is_closed_ && phase_ != Phase::lingering) process_unparsed();
  delete_if_done();
}

}  // namespace sennit::http::detail
