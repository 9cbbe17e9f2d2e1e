#include "sennit/net/tcp.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>

#include "sennit/base/assert.hpp"
#include "sennit/base/buffer.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::net {
namespace detail {
namespace {

using runtime::Waiter;
using runtime::Worker;
using runtime::io::Completion;
using runtime::io::Operation;
using runtime::io::Socket;

// What nobody has read yet is kept up to here; then the stream is stopped until it has been.
constexpr std::size_t unread_max = 64 * 1024;
constexpr std::size_t unaccepted_max = 64;

void wake(Waiter*& waiter) {
  if (waiter != nullptr) std::exchange(waiter, nullptr)->wake();
}

}  // namespace

// Lives until it is closed by its owner and its last operation has completed.
struct StreamState {
  StreamState(Worker& w, Socket s) : worker(w), socket(s), receiving(*this), sending(*this) {}

  struct Receiving : Operation {
    explicit Receiving(StreamState& s)
        : Operation([](Operation& operation, const Completion& completion) {
            static_cast<Receiving&>(operation).state.received(completion);
          }),
          state(s) {}
    StreamState& state;
  };
  struct Sending : Operation {
    explicit Sending(StreamState& s)
        : Operation([](Operation& operation, const Completion& completion) {
            static_cast<Sending&>(operation).state.sent(completion.result);
          }),
          state(s) {}
    StreamState& state;
  };

  void received(const Completion& completion) {
    if (completion.result > 0 && !closed) unread.append(completion.bytes);
    if (!completion.more) {
      if (closed) return delete_if_idle();
      if (completion.result <= 0 && completion.result != -ECANCELED) end = completion.result;
    }
    if (closed) return;
    if (completion.more && unread.size() >= unread_max) worker.backend().cancel(receiving);
    // A wake-up with nothing to take would be a lie: a stopped stream starts again instead.
    if (!unread.empty() || end) {
      wake(reader);
    } else if (!completion.more && reader != nullptr) {
      worker.backend().receive(receiving, socket);
    }
  }
  void sent(int result) {
    send_result = result;
    if (closed) return delete_if_idle();
    wake(writer);
  }
  void close() {
    SENNIT_ASSERT(reader == nullptr && writer == nullptr && "somebody still waits on this stream");
    closed = true;
    worker.backend().close(socket);
    delete_if_idle();
  }
  void delete_if_idle() {
    if (!receiving.in_flight() && !sending.in_flight()) delete this;
  }

  Worker& worker;
  Socket socket;
  Receiving receiving;
  Sending sending;
  Buffer unread;
  std::optional<int> end;  // 0 for an orderly end, or a negated errno.
  int send_result = 0;
  Waiter* reader = nullptr;
  Waiter* writer = nullptr;
  bool closed = false;
};

struct ListenerState {
  ListenerState(Worker& w, Socket s, const Address& a)
      : worker(w), socket(s), address(a), accepting(*this) {}

  struct Accepting : Operation {
    explicit Accepting(ListenerState& s)
        : Operation([](Operation& operation, const Completion& completion) {
            static_cast<Accepting&>(operation).state.accepted(completion);
          }),
          state(s) {}
    ListenerState& state;
  };

  void accepted(const Completion& completion) {
    if (closed) {
      if (completion.result >= 0) discard(worker.backend(), completion.result);
      if (!completion.more) delete this;
      return;
    }
    if (completion.result != -ECANCELED) unaccepted.push_back(completion.result);
    if (completion.more && unaccepted.size() >= unaccepted_max) worker.backend().cancel(accepting);
    if (!unaccepted.empty()) {
      wake(waiter);
    } else if (!completion.more && waiter != nullptr) {
      worker.backend().accept(accepting, socket);
    }
  }
  void close() {
    SENNIT_ASSERT(waiter == nullptr && "somebody still waits on this listener");
    closed = true;
    for (const int descriptor : unaccepted) {
      if (descriptor >= 0) discard(worker.backend(), descriptor);
    }
    unaccepted.clear();
    worker.backend().close(socket);
    if (!accepting.in_flight()) delete this;
  }

  Worker& worker;
  Socket socket;
  Address address;
  Accepting accepting;
  std::deque<int> unaccepted;  // Descriptors, or negated errnos.
  Waiter* waiter = nullptr;
  bool closed = false;
};

void StreamCloser::operator()(StreamState* state) const { state->close(); }
void ListenerCloser::operator()(ListenerState* state) const { state->close(); }

}  // namespace detail

Result<TcpStream> TcpStream::adopt(int descriptor) {
  runtime::Worker* const worker = runtime::Worker::current();
  SENNIT_ASSERT(worker != nullptr && "a TcpStream belongs to a worker");
  SENNIT_TRY(const runtime::io::Socket socket, worker->backend().adopt(descriptor));
  return TcpStream(State(new detail::StreamState(*worker, socket)));
}

TcpStream::Read TcpStream::read(std::span<char> room) {
  SENNIT_ASSERT(!room.empty());
  return {*state_, room};
}
TcpStream::Write TcpStream::write(std::string_view bytes) { return {*state_, bytes}; }
void TcpStream::shut_down_writing() { state_->worker.backend().shut_down_writing(state_->socket); }

bool TcpStream::Read::ready() { return !state_.unread.empty() || state_.end.has_value(); }

bool TcpStream::Read::start(runtime::Waiter& waiter) {
  SENNIT_ASSERT(state_.reader == nullptr && "one read at a time");
  state_.reader = &waiter;
  // One that was cancelled for want of room restarts when its last completion has come.
  if (!state_.receiving.in_flight())
    state_.worker.backend().receive(state_.receiving, state_.socket);
  return true;
}

// The stream stays armed: what arrives is kept for the next read.
void TcpStream::Read::cancel() { detail::wake(state_.reader); }

Result<std::size_t> TcpStream::Read::take() {
  if (state_.unread.empty()) {
    if (!state_.end) return failure(Errc::cancelled, "read from a connection");
    if (*state_.end == 0) return 0;
    return os_failure(-*state_.end, "read from a connection");
  }
  const std::size_t bytes = std::min(room_.size(), state_.unread.size());
  std::memcpy(room_.data(), state_.unread.view().data(), bytes);
  state_.unread.consume(bytes);
  return bytes;
}

bool TcpStream::Write::start(runtime::Waiter& waiter) {
  SENNIT_ASSERT(state_.writer == nullptr && !state_.sending.in_flight() && "one write at a time");
  if (state_.worker.backend().send(state_.sending, state_.socket, bytes_)) {
    state_.send_result = state_.sending.result();
    return false;
  }
  state_.writer = &waiter;
  return true;
}

void TcpStream::Write::cancel() {
  if (state_.writer != nullptr) state_.worker.backend().cancel(state_.sending);
}

std::size_t TcpStream::Write::sent() const {
  return state_.send_result < 0 ? state_.sending.transferred() : bytes_.size();
}

Result<std::size_t> TcpStream::Write::take() {
  if (state_.send_result < 0) return os_failure(-state_.send_result, "write to a connection");
  return bytes_.size();
}

Result<TcpListener> TcpListener::listen(const Address& address, const ListenOptions& options) {
  runtime::Worker* const worker = runtime::Worker::current();
  SENNIT_ASSERT(worker != nullptr && "a TcpListener belongs to a worker");
  runtime::io::Backend& backend = worker->backend();
  SENNIT_TRY(const int descriptor, open_listener(backend, address, options));
  auto bound = local_address(backend, descriptor);
  if (!bound) {
    discard(backend, descriptor);
    return failure(std::move(bound).error());
  }
  SENNIT_TRY(const runtime::io::Socket socket, backend.adopt(descriptor));
  return TcpListener(State(new detail::ListenerState(*worker, socket, *bound)));
}

TcpListener::Accept TcpListener::accept() { return Accept(*state_); }
const Address& TcpListener::address() const { return state_->address; }

bool TcpListener::Accept::ready() { return !state_.unaccepted.empty(); }

bool TcpListener::Accept::start(runtime::Waiter& waiter) {
  SENNIT_ASSERT(state_.waiter == nullptr && "one accept at a time");
  state_.waiter = &waiter;
  if (!state_.accepting.in_flight())
    state_.worker.backend().accept(state_.accepting, state_.socket);
  return true;
}

void TcpListener::Accept::cancel() { detail::wake(state_.waiter); }

Result<TcpStream> TcpListener::Accept::take() {
  if (state_.unaccepted.empty()) {
    return failure(Errc::cancelled, "accept on " + state_.address.to_string());
  }
  const int accepted = state_.unaccepted.front();
  state_.unaccepted.pop_front();
  if (accepted < 0) return os_failure(-accepted, "accept on " + state_.address.to_string());
  return TcpStream::adopt(accepted);
}

Connect::ConnectOperation::ConnectOperation(Connect& connect)
    : Operation([](Operation& operation, const runtime::io::Completion& completion) {
        auto& self = static_cast<ConnectOperation&>(operation);
        self.owner.result_ = completion.result;
        self.waiter->wake();
      }),
      owner(connect) {}

bool Connect::start(runtime::Waiter& waiter) {
  auto opened = open_stream(waiter.worker().backend(), address_.family());
  if (!opened) {
    result_ = -opened.error().os_error();
    return false;
  }
  descriptor_ = *opened;
  auto socket = waiter.worker().backend().adopt(descriptor_);
  if (!socket) {
    result_ = -socket.error().os_error();
    return false;
  }
  socket_ = *socket;
  operation_.waiter = &waiter;
  if (waiter.worker().backend().connect(operation_, socket_, address_.data(), address_.size())) {
    result_ = operation_.result();
    return false;
  }
  return true;
}

void Connect::cancel() { operation_.waiter->worker().backend().cancel(operation_); }

Result<TcpStream> Connect::take() {
  const std::string doing = "connect to " + address_.to_string();
  if (!socket_.is_valid()) return os_failure(-result_, doing);
  runtime::Worker& worker = *runtime::Worker::current();
  if (result_ != 0) {
    worker.backend().close(socket_);
    return os_failure(-result_, doing);
  }
  return TcpStream(TcpStream::State(new detail::StreamState(worker, socket_)));
}

}  // namespace sennit::net
