#include "sennit/service/connection.hpp"

#include <cerrno>

#include "sennit/base/assert.hpp"
#include "sennit/net/listener.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::service {
namespace detail {

using runtime::Waiter;
using runtime::Worker;
using runtime::io::Completion;
using runtime::io::Operation;
using runtime::io::Socket;

// Lives until its owner has closed it and its last operation has completed: until then the kernel
// may still look at what is being sent.
struct ConnectionState {
  ConnectionState(Worker& w, Socket s, const net::Address& a, std::size_t most)
      : worker(w),
        socket(s),
        address(a),
        unread_max(most),
        reading(*this),
        writing(*this),
        timer(*this) {}

  struct Reading : Operation {
    explicit Reading(ConnectionState& s)
        : Operation([](Operation& operation, const Completion& completion) {
            static_cast<Reading&>(operation).state.received(completion);
          }),
          state(s) {}
    ConnectionState& state;
  };
  struct Writing : Operation {
    explicit Writing(ConnectionState& s)
        : Operation([](Operation& operation, const Completion& completion) {
            static_cast<Writing&>(operation).state.sent(completion.result);
          }),
          state(s) {}
    ConnectionState& state;
  };
  struct Expiry : runtime::Timer {
    explicit Expiry(ConnectionState& s)
        : Timer([](Timer& expired) { static_cast<Expiry&>(expired).state.expire(); }), state(s) {}
    ConnectionState& state;
  };

  void connect() {
    is_connecting = true;
    if (worker.backend().connect(writing, socket, address.data(), address.size())) {
      sent(writing.result());
    }
  }
  void send(std::string_view bytes) {
    SENNIT_ASSERT(!is_sending() && "one send at a time");
    if (worker.backend().send(writing, socket, bytes)) sent(writing.result());
  }
  [[nodiscard]] bool is_sending() const { return writing.in_flight(); }

  void sent(int result) {
    if (closed) return delete_if_idle();
    if (result < 0 && !failure) {
      failure = Error::from_os(-result,
                               (is_connecting ? "connect to " : "send to ") + address.to_string());
    }
    if (std::exchange(is_connecting, false) && result >= 0) start_reading();
    output.clear();
    owner.reset();
    wake_if_ready();
  }
  void start_reading() {
    if (!reading.in_flight() && !ended && unread.size() < unread_max) {
      worker.backend().receive(reading, socket);
    }
  }
  void received(const Completion& completion) {
    if (completion.result > 0 && !closed) unread.append(completion.bytes);
    if (!completion.more) {
      if (closed) return delete_if_idle();
      if (completion.result != -ECANCELED) {
        ended = true;
        if (completion.result < 0) {
          end_error = Error::from_os(-completion.result, "receive from " + address.to_string());
        }
      }
    }
    if (closed) return;
    if (completion.more && unread.size() >= unread_max) worker.backend().cancel(reading);
    if (!completion.more && !ended) start_reading();  // It was stopped for want of room.
    if (stirred && (ended || !unread.empty())) {
      const auto call = std::exchange(stirred, nullptr);
      return call();  // May end us.
    }
    wake_if_ready();
  }

  void wake_if_ready() {
    if (wait != nullptr && wait->ready()) wake();
  }
  void wake() {
    timer.disarm();
    wait = nullptr;
    std::exchange(waiter, nullptr)->wake();
  }
  void expire() {
    wait->timed_out_ = true;
    wake();
  }

  void close() {
    SENNIT_ASSERT(waiter == nullptr && "somebody still waits on this connection");
    closed = true;
    stirred = nullptr;
    worker.backend().close(socket);
    delete_if_idle();
  }
  void delete_if_idle() {
    if (!reading.in_flight() && !writing.in_flight()) delete this;
  }

  Worker& worker;
  const Socket socket;
  const net::Address address;
  const std::size_t unread_max;
  Reading reading;
  Writing writing;
  Expiry timer;
  Buffer unread;
  Buffer output;
  std::shared_ptr<const void> owner;  // Of what is being sent.
  std::optional<Error> failure;
  std::optional<Error> end_error;
  std::function<void()> stirred;
  Waiter* waiter = nullptr;
  Connection::Wait* wait = nullptr;
  bool is_connecting = false;
  bool ended = false;
  bool closed = false;
};

void ConnectionCloser::operator()(ConnectionState* state) const { state->close(); }

}  // namespace detail

Result<Connection> Connection::open(const net::Address& address, std::size_t unread_max) {
  runtime::Worker& worker = runtime::Worker::here();
  SENNIT_TRY(const int descriptor, net::open_stream(worker.backend(), address.family()));
  SENNIT_TRY(const runtime::io::Socket socket, worker.backend().adopt(descriptor));
  State state(new detail::ConnectionState(worker, socket, address, unread_max));
  state->connect();
  return Connection(std::move(state));
}

Buffer& Connection::output() { return state_->output; }

void Connection::flush() {
  SENNIT_ASSERT(!is_sending());
  if (!state_->output.empty()) state_->send(state_->output.view());
}

void Connection::send(std::string_view bytes, std::shared_ptr<const void> owner) {
  if (bytes.empty()) return;
  SENNIT_ASSERT(!is_sending());
  state_->owner = std::move(owner);
  state_->send(bytes);
}

bool Connection::is_sending() const { return state_->is_sending(); }
std::size_t Connection::transferred() const { return state_->writing.transferred(); }
const std::optional<Error>& Connection::failure() const { return state_->failure; }
std::string_view Connection::received() const { return state_->unread.view(); }
bool Connection::has_ended() const { return state_->ended; }
const std::optional<Error>& Connection::end_error() const { return state_->end_error; }

void Connection::consume(std::size_t bytes) {
  state_->unread.consume(bytes);
  if (!state_->is_connecting && !state_->failure) state_->start_reading();
}

Connection::Wait Connection::wait_sent(Deadline deadline) {
  return {*state_, true, std::nullopt, deadline};
}
Connection::Wait Connection::wait_received(std::size_t seen, Deadline deadline) {
  return {*state_, false, seen, deadline};
}
Connection::Wait Connection::wait_any(std::size_t seen, Deadline deadline) {
  return {*state_, true, seen, deadline};
}

void Connection::start_idling(std::function<void()> stirred) {
  SENNIT_ASSERT(state_->unread.empty() && !state_->ended && !is_sending());
  state_->unread.release();
  state_->output.release();
  state_->stirred = std::move(stirred);
  state_->start_reading();
}
void Connection::stop_idling() { state_->stirred = nullptr; }

bool Connection::Wait::ready() {
  if (sent_ && !state_.is_sending()) return true;
  return seen_ && (state_.unread.size() > *seen_ || state_.ended);
}

bool Connection::Wait::start(runtime::Waiter& waiter) {
  SENNIT_ASSERT(state_.waiter == nullptr && "one wait at a time");
  if (deadline_.expired(state_.worker.now())) {
    timed_out_ = true;
    return false;
  }
  if (seen_ && !state_.is_connecting) state_.start_reading();
  state_.wait = this;
  state_.waiter = &waiter;
  if (!deadline_.is_never()) state_.worker.timers().arm(state_.timer, deadline_.instant());
  return true;
}

void Connection::Wait::cancel() {
  if (state_.wait != this) return;
  cancelled_ = true;
  state_.wake();
}

Result<void> Connection::Wait::take() {
  if (ready()) return {};
  if (cancelled_) return sennit::failure(Errc::cancelled, "wait for " + state_.address.to_string());
  return sennit::failure(Errc::timed_out, "wait for " + state_.address.to_string());
}

}  // namespace sennit::service
