// The other half of Connection: how long each phase may last, and how a connection ends.

#include <algorithm>
#include <utility>

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
      return phase_started_ + options.body_timeout;
    case Phase::lingering:
      return phase_started_ + linger_timeout;
    case Phase::handling:
      break;
  }
  return service_.worker().now() + 1h;  // A handler may take its time; look in again.
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
    case Phase::head:
    case Phase::body:
      refuse(408, "the request did not arrive in time");
      flush();
      return;
    case Phase::handling:
      return arm();
    case Phase::first_byte:
    case Phase::idle:
    case Phase::lingering:
      return close();
  }
}

void Connection::peer_ended(int result) {
  if (result < 0 || phase_ == Phase::lingering) return close();
  // It will send nothing more but may still read: what it asked is answered first.
  peer_is_done_ = true;
  if (must_wait()) return;
  close();
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
  return !is_closed_ && (exchange_ != nullptr || output_ != nullptr);
}

void Connection::close() {
  is_closed_ = true;
  timer_.disarm();
  service_.worker().backend().close(socket_);
}

void Connection::delete_if_done() {
  if (!is_closed_ || is_handling_ || is_processing_ || is_dispatching_ || continuation_.is_queued ||
      receiving_.in_flight() || sending_.in_flight()) {
    return;
  }
  if (exchange_ != nullptr) release_exchange();
  if (output_ != nullptr) service_.give_back(std::move(output_));
  service_.remove(*this);
}

}  // namespace sennit::http::detail
