// The other half of Connection: how long each phase may last, and how a connection ends.

#include <algorithm>
#include <utility>

#include "sennit/base/log.hpp"
#include "sennit/http/detail/connection.hpp"
#include "sennit/http/detail/exchange.hpp"
#include "sennit/http/detail/worker_service.hpp"
#include "sennit/http/h1/serializer.hpp"

namespace sennit::http::detail {
namespace {

using namespace std::chrono_literals;

// How long a peer may go on sending after its last answer, before it is cut off. Closing earlier
// would make the kernel send a reset, which may overtake the answer.
constexpr Duration linger_timeout = 2s;
// How long a handler may go on after it was cancelled for its time, before it is answered for.
constexpr Duration abandon_grace = 1s;

}  // namespace

Connection::PhaseTimer::PhaseTimer(Connection& c)
    : Timer([](Timer& timer) {
        Connection& connection = static_cast<PhaseTimer&>(timer).connection;
        connection.timer_fired();
        connection.delete_if_done();
      }),
      connection(c) {}

void Connection::enter(Phase phase) {
  phase_ = phase;
  phase_started_ = service_.worker().now();
  if (!timer_.is_armed() || due() < timer_due_) arm();
}

TimePoint Connection::due() const {
  const ServerOptions& options = service_.options();
  if (sending_.in_flight()) return send_progress_at_ + options.write_timeout;
  switch (phase_) {
    case Phase::first_byte:
    case Phase::idle: {
      const Duration usual = phase_ == Phase::idle
                                 ? options.idle_timeout - std::chrono::milliseconds(idle_jitter_ms_)
                                 : options.first_byte_timeout;
      return phase_started_ +
             (service_.is_draining() ? std::min(usual, options.drain_idle_timeout) : usual);
    }
    case Phase::head:
      return phase_started_ + options.head_timeout;
    case Phase::body:
      return body_due();
    case Phase::lingering:
      return phase_started_ + linger_timeout;
    case Phase::handling:
      if (exchange_ == nullptr) break;
      if (exchange_->body_waiter != nullptr) return std::min(body_due(), exchange_->cancel_at);
      if (exchange_->cancel_at != TimePoint::max()) return exchange_->cancel_at;
      break;
  }
  return service_.worker().now() + 1h;  // A handler may take its time; look in again.
}

// Without progress, or slower than the least rate once its sender had time to begin.
TimePoint Connection::body_due() const {
  const ServerOptions& options = service_.options();
  const TimePoint progress_due = phase_started_ + options.body_timeout;
  if (options.body_rate_min == 0) return progress_due;
  const Duration needed =
      std::chrono::microseconds(exchange_->body_bytes * 1'000'000 / options.body_rate_min);
  const Duration allowed = std::max(options.body_rate_grace, needed) - exchange_->body_waited;
  return std::min(progress_due, exchange_->body_started + allowed);
}

void Connection::watch_send() {
  send_progress_at_ = service_.worker().now();
  send_progress_bytes_ = 0;
  if (!timer_.is_armed() || due() < timer_due_) arm();
}

void Connection::arm() {
  timer_due_ = due();
  service_.worker().timers().arm(timer_, timer_due_);
}

void Connection::timer_fired() {
  if (is_closed_) return;
  if (sending_.in_flight() && sending_.transferred() > send_progress_bytes_) {
    send_progress_bytes_ = sending_.transferred();
    send_progress_at_ = service_.worker().now();
  }
  // What has begun since the timer was armed has its own time.
  if (due() > service_.worker().now()) return arm();
  if (sending_.in_flight()) return close();
  switch (phase_) {
    case Phase::body:
      if (exchange_->is_answered) return close();  // It was told already.
      [[fallthrough]];
    case Phase::head:
      refuse(408, "the request did not arrive in time");
      flush();
      return;
    case Phase::handling:
      return handling_timed_out();
    case Phase::first_byte:
    case Phase::idle:
    case Phase::lingering:
      return close();
  }
}

void Connection::handling_timed_out() {
  Exchange& exchange = *exchange_;
  const TimePoint now = service_.worker().now();
  if (exchange.cancel_at <= now) {
    if (exchange.is_cancelled) return abandon_handler();
    exchange.is_cancelled = true;
    exchange.cancel_at = exchange.times_out ? now + abandon_grace : TimePoint::max();
    exchange.cancel();
  } else if (exchange.body_waiter != nullptr) {
    fail_body(408, "it did not arrive in time");
    wake_body_waiter();
  }
  arm();
}

// It was asked to end and does not. Its client need not wait for that.
void Connection::abandon_handler() {
  const Request& request = exchange_->request;
  log::error("the handler of {} {} goes on although it was cancelled", request.method_name(),
             request.path());
  exchange_->cancel_at = TimePoint::max();
  exchange_->is_abandoned = true;
  exchange_->outcome = metrics::Outcome::timed_out;
  closes_after_ = true;
  h1::write_response(output(), problem(Status::service_unavailable, "the handler took too long"),
                     request.method() == Method::head, false, request.minor_version(),
                     service_.date_line());
  flush();
  if (!is_closed_) arm();
}

void Connection::peer_ended(int result) {
  if (result < 0 || phase_ == Phase::lingering) return close();
  // It will send nothing more but may still read: what it asked is answered first.
  peer_is_done_ = true;
  find_body();
  cancel_for_absent_client();
  if (must_wait()) return;
  close();
}

// Who has ended its direction may still read, but hardly waits for long.
void Connection::cancel_for_absent_client() {
  const ServerOptions& options = service_.options();
  if (!is_handling_ || !options.cancel_on_disconnect || exchange_->is_cancelled) return;
  const TimePoint until = service_.worker().now() +
                          std::min<Duration>(options.half_close_grace, std::chrono::hours(24));
  if (until >= exchange_->cancel_at) return;
  exchange_->cancel_at = until;
  exchange_->times_out = false;
  if (until < timer_due_) arm();
}

void Connection::linger() {
  if (peer_is_done_) return close();
  service_.worker().backend().shut_down_writing(socket_);
  unparsed_.release();
  enter(Phase::lingering);
  if (!receiving_.in_flight()) service_.worker().backend().receive(receiving_, socket_);
}

void Connection::drain() {
  if (is_closed_) return;
  if (phase_ == Phase::idle || phase_ == Phase::first_byte) enter(phase_);
}

void Connection::abort() {
  if (!is_closed_) close();
  delete_if_done();
}

bool Connection::is_busy() const {
  return !is_closed_ && (exchange_ != nullptr || output_ != nullptr || sending_buffer_ != nullptr);
}

void Connection::close() {
  is_closed_ = true;
  timer_.disarm();
  service_.worker().backend().close(socket_);
  wake_body_waiter();
  wake_room_waiter();
  if (is_handling_ && service_.options().cancel_on_disconnect) exchange_->cancel();
}

void Connection::delete_if_done() {
  if (!is_closed_ || is_handling_ || is_processing_ || is_dispatching_ || continuation_.is_queued ||
      receiving_.in_flight() || sending_.in_flight()) {
    return;
  }
  if (exchange_ != nullptr) release_exchange();
  if (output_ != nullptr) service_.give_back(std::move(output_));
  if (sending_buffer_ != nullptr) service_.give_back(std::move(sending_buffer_));
  service_.remove(*this);
}

}  // namespace sennit::http::detail
