#pragma once
// Stream sockets (TCP and Unix) as awaitables: listen, accept, connect, read, write.
//
//   SENNIT_TRY(auto listener, TcpListener::listen(address));
//   Result<TcpStream> stream = wait(listener.accept());       // or co_await
//   Result<std::size_t> bytes = wait(stream->read(room));     // 0: the peer is done
//   Result<std::size_t> sent = wait(stream->write("hello"));  // all of it, or an error
//
// Thread safety: none; each object belongs to the worker it was made on. One read and one write may
// wait at the same time. Destroying an object with an operation waiting is a defect (asserted).
// Errors are those of the kernel, mapped to codes: connection_refused, connection_reset, ...; and
// `cancelled`, if who waits was. No byte and no connection is lost by that: what had come, or comes
// later, is there for the next call. Only a write may have sent a part (Write::sent()).

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/net/address.hpp"
#include "sennit/net/listener.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::net {

namespace detail {
struct ListenerState;
struct StreamState;
struct ListenerCloser {
  void operator()(ListenerState* state) const;
};
struct StreamCloser {
  void operator()(StreamState* state) const;
};
}  // namespace detail

class TcpStream {
 public:
  class Read;
  class Write;

  /// Takes ownership of a connected descriptor. On a worker.
  [[nodiscard]] static Result<TcpStream> adopt(int descriptor);

  /// Awaitable, Result<std::size_t>: at least one byte into `room`, or 0 at the end. Requires room.
  [[nodiscard]] Read read(std::span<char> room);
  /// Awaitable, Result<std::size_t>: all of `bytes`, which must stay where they are.
  [[nodiscard]] Write write(std::string_view bytes);
  /// The peer reads the end; we can still read.
  void shut_down_writing();

 private:
  friend class Connect;
  using State = std::unique_ptr<detail::StreamState, detail::StreamCloser>;
  explicit TcpStream(State state) : state_(std::move(state)) {}
  State state_;
};

class TcpStream::Read {
 public:
  static constexpr const char* waits_for = "bytes of a stream";

  Read(detail::StreamState& state, std::span<char> room) : state_(state), room_(room) {}
  bool ready();
  bool start(runtime::Waiter& waiter);
  void cancel();
  Result<std::size_t> take();

 private:
  detail::StreamState& state_;
  std::span<char> room_;
};

class TcpStream::Write {
 public:
  static constexpr const char* waits_for = "room in a stream";

  Write(detail::StreamState& state, std::string_view bytes) : state_(state), bytes_(bytes) {}
  bool ready() { return false; }
  bool start(runtime::Waiter& waiter);
  void cancel();
  Result<std::size_t> take();
  /// Of all bytes, how many were sent before it ended.
  [[nodiscard]] std::size_t sent() const;

 private:
  detail::StreamState& state_;
  std::string_view bytes_;
};

class TcpListener {
 public:
  class Accept;

  /// On a worker.
  [[nodiscard]] static Result<TcpListener> listen(const Address& address,
                                                  const ListenOptions& options = {});
  /// Awaitable, Result<TcpStream>.
  [[nodiscard]] Accept accept();
  [[nodiscard]] const Address& address() const;  // With the port that was chosen for 0.

 private:
  using State = std::unique_ptr<detail::ListenerState, detail::ListenerCloser>;
  explicit TcpListener(State state) : state_(std::move(state)) {}
  State state_;
};

class TcpListener::Accept {
 public:
  static constexpr const char* waits_for = "a connection to accept";

  explicit Accept(detail::ListenerState& state) : state_(state) {}
  bool ready();
  bool start(runtime::Waiter& waiter);
  void cancel();
  Result<TcpStream> take();

 private:
  detail::ListenerState& state_;
};

/// Awaitable, Result<TcpStream>.
class Connect {
 public:
  static constexpr const char* waits_for = "a connection to be made";

  explicit Connect(const Address& address) : address_(address), operation_(*this) {}
  Connect(Connect&& other) noexcept : Connect(other.address_) {}  // Before start().
  bool ready() { return false; }
  bool start(runtime::Waiter& waiter);
  void cancel();
  Result<TcpStream> take();

 private:
  struct ConnectOperation : runtime::io::Operation {
    explicit ConnectOperation(Connect& connect);
    Connect& owner;
    runtime::Waiter* waiter = nullptr;
  };
  Address address_;
  int descriptor_ = -1;
  int result_ = 0;
  runtime::io::Socket socket_;
  ConnectOperation operation_;
};
[[nodiscard]] inline Connect connect(const Address& address) { return Connect(address); }

}  // namespace sennit::net
