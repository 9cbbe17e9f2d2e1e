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
      asked_(std::make_unique<Asked[]>(driver.plan().pipeline)),
      receiving_(*this),
      writing_(*this),
      watch_(*this) {}

Connection::~Connection() {
  if (is_linked()) unlink();
}

void Connection::start() { connect(); }

void Connection::stop() {
  watch_.disarm();
  if (is_linked()) unlink();
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
  connect_begun_at_ = driver_.now();
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
  if (!address.is_unix()) {
    const int on = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  const auto adopted = driver_.backend().adopt(descriptor);
  if (!adopted) return adopted.error().os_error() != 0 ? adopted.error().os_error() : ENOMEM;
  socket_ = *adopted;
  return 0;
}

void Connection::connected(int result) {
  if (result < 0) return fail(ErrorKind::connect, -result, "");
  phase_ = Phase::open;
  sent_here_ = 0;
  driver_.connecting_ends();
  if (phase_ != Phase::open) return;  // The driver has stopped meanwhile.
  driver_.backend().receive(receiving_, socket_);
  pump(driver_.now(), UINT32_MAX);
}

bool Connection::can_ask() const {
  const Plan& plan = driver_.plan();
  const bool is_used_up =
      plan.requests_per_connection > 0 && sent_here_ >= plan.requests_per_connection;
  return asked_count_ < plan.pipeline && !is_used_up;
}

void Connection::pump(TimePoint now, std::uint32_t requests_max) {
  if (phase_ != Phase::open || writing_.in_flight()) return;
  outgoing_.clear();
  std::string_view alone;  // One constant request is sent from where it is.
  TimePoint intended_at = now;
  const std::uint32_t asked_before = asked_count_;
  while (requests_max > 0 && can_ask() && driver_.take_due(now, intended_at)) {
    add_request(intended_at, now, alone);
    --requests_max;
  }
  if (asked_count_ == asked_before) return offer();
  if (asked_before == 0) reader_.begin(oldest().method);
  const std::string_view bytes = alone.empty() ? outgoing_.view() : alone;
  if (driver_.backend().send(writing_, socket_, bytes)) written(writing_.result());
}

void Connection::add_request(TimePoint intended_at, TimePoint now, std::string_view& alone) {
  const Plan& plan = driver_.plan();
  const PlannedRequest& request = plan.choose(driver_.random());
  asked_[(first_ + asked_count_++) % plan.pipeline] = {intended_at, now, request.method()};
  ++sent_here_;
  const bool is_last = sent_here_ == plan.requests_per_connection;
  const bool is_first = alone.empty() && outgoing_.empty();
  if (is_first && request.is_constant()) {
    alone = request.bytes(is_last);
    return;
  }
  if (!alone.empty()) {
    outgoing_.append(alone);
    alone = {};
  }
  if (request.is_constant()) {
    outgoing_.append(request.bytes(is_last));
  } else {
    driver_.render(request, outgoing_, is_last);
  }
}

/// Tells the driver that a request would find its way from here.
void Connection::offer() {
  if (phase_ == Phase::open && !is_linked() && !writing_.in_flight() && can_ask()) {
    driver_.offer(*this);
  }
}

void Connection::written(int result) {
  if (phase_ == Phase::closing) return close_if_idle();
  if (phase_ != Phase::open) return;  // Answered and parting.
  if (result < 0) return fail(ErrorKind::write, -result, "");
  pump(driver_.now(), UINT32_MAX);
}

void Connection::received(const Completion& completion) {
  if (phase_ == Phase::closing) {
    if (!completion.more) close_if_idle();
  } else if (completion.result <= 0) {
    peer_ended(completion.result);
  } else if (phase_ == Phase::open) {
    driver_.count_bytes(completion.bytes.size());
    take(completion.bytes);
  }
}

void Connection::take(std::string_view bytes) {
  const TimePoint now = driver_.now();
  while (!bytes.empty()) {
    if (asked_count_ == 0) return fail(ErrorKind::read, 0, "more bytes than the response has");
    const ResponseReader::Step step = reader_.take(bytes);
    if (step.status == ResponseReader::Status::partial) return;
    if (step.status == ResponseReader::Status::error) {
      return fail(ErrorKind::read, 0, reader_.reason());
    }
    bytes.remove_prefix(step.consumed);
    answered(now);
    if (!reader_.keep_alive()) {
      if (!bytes.empty()) return fail(ErrorKind::read, 0, "more bytes than the response has");
      count_unanswered(ErrorKind::read, "the connection ended before the response did");
      if (is_linked()) unlink();
      phase_ = Phase::parting;
      parting_since_ = now;
      return;
    }
    if (asked_count_ > 0) reader_.begin(oldest().method);
  }
  pump(now, UINT32_MAX);
}

void Connection::peer_ended(int result) {
  if (phase_ == Phase::parting) return close();
  if (asked_count_ == 0 && !writing_.in_flight()) {  // A server may end a connection that idles.
    failed_to_connect_ = false;
    if (failures_in_a_row_ < UINT8_MAX) ++failures_in_a_row_;
    return close();
  }
  if (result < 0) return fail(ErrorKind::read, -result, "");
  const bool is_orderly = asked_count_ > 0 && reader_.end() == ResponseReader::Status::complete;
  if (!is_orderly) {
    return fail(ErrorKind::read, 0, "the connection ended before the response did");
  }
  answered(driver_.now());
  count_unanswered(ErrorKind::read, "the connection ended before the response did");
  close();
}

void Connection::answered(TimePoint now) {
  failures_in_a_row_ = 0;
  const Asked& asked = oldest();
  driver_.count_response(asked.intended_at, asked.sent_at, now, reader_.http_status());
  first_ = (first_ + 1) % driver_.plan().pipeline;
  --asked_count_;
}

TimePoint Connection::due() const {
  const bool waits = phase_ == Phase::open || phase_ == Phase::parting;
  const TimePoint since = waits && asked_count_ > 0 ? asked_[first_].sent_at : connect_begun_at_;
  return since + driver_.plan().timeout;
}

void Connection::timer_fired() {
  const TimePoint now = driver_.now();
  switch (phase_) {
    case Phase::connecting:
      if (now < due()) return driver_.timers().arm(watch_, due());
      return fail(ErrorKind::timeout, 0, "no connection in time");
    case Phase::open:
      if (asked_count_ == 0) return driver_.timers().arm(watch_, now + driver_.plan().timeout);
      if (now < due()) return driver_.timers().arm(watch_, due());
      return fail(ErrorKind::timeout, 0, "no response in time");
    case Phase::parting:
      if (now < parting_since_ + driver_.plan().timeout) {
        return driver_.timers().arm(watch_, parting_since_ + driver_.plan().timeout);
      }
      return close();
    case Phase::resting:
      return connect();
    default:
      break;
  }
}

/// All that is unanswered has failed, each request by itself.
void Connection::count_unanswered(ErrorKind kind, const char* reason) {
  for (; asked_count_ > 0; --asked_count_) {
    driver_.count_error(kind, 0, reason, oldest().intended_at);
    first_ = (first_ + 1) % driver_.plan().pipeline;
  }
}

void Connection::fail(ErrorKind kind, int os_error, const char* reason) {
  failed_to_connect_ = phase_ == Phase::connecting;
  if (failures_in_a_row_ < UINT8_MAX) ++failures_in_a_row_;
  const TimePoint intended_at = asked_count_ > 0 ? oldest().intended_at : driver_.now();
  driver_.count_error(kind, os_error, reason, intended_at);
  if (asked_count_ > 0) {  // The oldest was just counted.
    first_ = (first_ + 1) % driver_.plan().pipeline;
    --asked_count_;
    count_unanswered(kind, reason);
  }
  close();
}

void Connection::close() {
  const bool was_connecting = phase_ == Phase::connecting;
  phase_ = Phase::closing;
  if (is_linked()) unlink();
  first_ = asked_count_ = 0;
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
