#include "sennit/load/detail/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "sennit/load/detail/driver.hpp"

namespace sennit::load::detail {

using runtime::io::Completion;
using runtime::io::Operation;

Connection::Receiving::Receiving(Connection& c)
    : Operation([](Operation& operation, const Completion& completion) {
        static_cast<Receiving&>(operation).connection.received(completion);
      }),
      connection(c) {}

Connection::Writing::Writing(Connection& c)
    : Operation([](Operation& operation, const Completion& completion) {
        Connection& self = static_cast<Writing&>(operation).connection;
        if (self.phase_ == Phase::connecting) {
          self.connected(completion.result);
        } else {
          self.written(completion.result);
        }
      }),
      connection(c) {}

Connection::Watch::Watch(Connection& c)
    : Timer([](Timer& timer) { static_cast<Watch&>(timer).connection.timer_fired(); }),
      connection(c) {}

Connection::Connection(Driver& driver)
    : driver_(driver),
      receiving_(*this),
      writing_(*this),
      watch_(*this),
      reader_(driver.plan().method) {}

void Connection::start() { connect(); }

void Connection::stop() {
  watch_.disarm();
  switch (phase_) {
    case Phase::idle:
    case Phase::resting:
      phase_ = Phase::ended;
      driver_.connection_ended();
      break;
    case Phase::closing:  // Its end is on the way.
    case Phase::ended:
      break;
    default:
      close();
  }
}

void Connection::connect() {
  phase_ = Phase::connecting;
  driver_.connecting_begins();
  started_at_ = driver_.now();
  if (!watch_.is_armed()) driver_.timers().arm(watch_, due());
  if (const int os_error = open_socket(); os_error != 0) return connected(-os_error);
  const net::Address& address = driver_.plan().address;
  if (driver_.backend().connect(writing_, socket_, address.data(), address.size())) {
    connected(writing_.result());
  }
}

/// 0 or an errno.
int Connection::open_socket() {
  const net::Address& address = driver_.plan().address;
  const int descriptor = ::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const auto adopted = driver_.backend().adopt(descriptor);
  if (!adopted) return adopted.error().os_error() != 0 ? adopted.error().os_error() : ENOMEM;
  socket_ = *adopted;
  return 0;
}

void Connection::connected(int result) {
  if (result < 0) return fail(ErrorKind::connect, -result, "");
  driver_.connecting_ends();
  driver_.backend().receive(receiving_, socket_);
  send_request(driver_.now());
}

void Connection::send_request(TimePoint now) {
  phase_ = Phase::answering;
  is_answered_ = false;
  started_at_ = now;
  reader_.begin();
  if (driver_.backend().send(writing_, socket_, driver_.plan().request)) written(writing_.result());
}

void Connection::written(int result) {
  if (phase_ == Phase::closing) return close_if_idle();
  if (phase_ != Phase::answering) return;  // Answered and parting.
  if (result < 0) return fail(ErrorKind::write, -result, "");
  if (is_answered_) go_on(driver_.now());
}

void Connection::received(const Completion& completion) {
  if (phase_ == Phase::closing) {
    if (!completion.more) close_if_idle();
  } else if (completion.result <= 0) {
    peer_ended(completion.result);
  } else if (phase_ == Phase::answering) {
    driver_.count_bytes(completion.bytes.size());
    take(completion.bytes);
  }
}

void Connection::take(std::string_view bytes) {
  if (is_answered_) return fail(ErrorKind::read, 0, "more bytes than the response has");
  const ResponseReader::Step step = reader_.take(bytes);
  if (step.status == ResponseReader::Status::partial) return;
  if (step.status == ResponseReader::Status::error) {
    return fail(ErrorKind::read, 0, reader_.reason());
  }
  const TimePoint now = driver_.now();
  answered(now);
  if (step.consumed < bytes.size()) {
    return fail(ErrorKind::read, 0, "more bytes than the response has");
  }
  go_on(now);
}

void Connection::peer_ended(int result) {
  if (phase_ == Phase::parting) return close();
  if (result < 0) return fail(ErrorKind::read, -result, "");
  if (is_answered_ || reader_.end() != ResponseReader::Status::complete) {
    return fail(ErrorKind::read, 0, "the connection ended before the response did");
  }
  answered(driver_.now());
  close();
}

void Connection::answered(TimePoint now) {
  is_answered_ = true;
  failures_in_a_row_ = 0;
  driver_.count_response(now - started_at_, reader_.http_status());
}

/// To the next request, once this one is answered.
void Connection::go_on(TimePoint now) {
  if (!reader_.keep_alive()) {
    phase_ = Phase::parting;
  } else if (!writing_.in_flight()) {
    send_request(now);
  }
}

TimePoint Connection::due() const { return started_at_ + driver_.plan().timeout; }

void Connection::timer_fired() {
  switch (phase_) {
    case Phase::connecting:
    case Phase::answering:
    case Phase::parting:
      if (driver_.now() < due()) return driver_.timers().arm(watch_, due());
      if (phase_ == Phase::parting) return close();
      return fail(ErrorKind::timeout, 0,
                  phase_ == Phase::connecting ? "no connection in time" : "no response in time");
    case Phase::resting:
      return connect();
    default:
      break;
  }
}

void Connection::fail(ErrorKind kind, int os_error, const char* reason) {
  failed_to_connect_ = phase_ == Phase::connecting;
  if (failures_in_a_row_ < UINT8_MAX) ++failures_in_a_row_;
  driver_.count_error(kind, os_error, reason);
  close();
}

void Connection::close() {
  const bool was_connecting = phase_ == Phase::connecting;
  phase_ = Phase::closing;
  if (socket_.is_valid()) driver_.backend().close(socket_);
  socket_ = {};
  if (was_connecting) driver_.connecting_ends();
  close_if_idle();
}

void Connection::close_if_idle() {
  if (receiving_.in_flight() || writing_.in_flight()) return;
  if (driver_.is_stopping()) {
    phase_ = Phase::ended;
    return driver_.connection_ended();
  }
  if (rest() == Duration::zero()) return connect();
  phase_ = Phase::resting;
  driver_.timers().arm(watch_, driver_.now() + rest());
}

Duration Connection::rest() const {
  constexpr Duration shortest = std::chrono::milliseconds(1),
                     longest = std::chrono::milliseconds(100);
  const int forgiven = failed_to_connect_ ? 0 : 1;
  const int counted = failures_in_a_row_ - forgiven;
  if (counted <= 0) return Duration::zero();
  return std::min(longest, shortest * (1 << std::min(counted - 1, 7)));
}

}  // namespace sennit::load::detail
