#pragma once
// Connection: a client's end of a stream socket, with a deadline on every wait.
//
//   SENNIT_TRY(Connection connection, Connection::open(address));   // Begins to connect.
//   wait(connection.wait_sent(deadline));                           // Connected, or failure().
//   connection.output().append("ping"); connection.flush();
//   wait(connection.wait_received(0, deadline));                    // Look at received(), ended().
//
// Unlike net::TcpStream it can wait for both directions at once (an answer that comes while the
// request is still being sent), is watched while nobody uses it (a server that closes an idle
// connection is noticed at once), and can be destroyed at any time: what is being sent is kept
// until the kernel is done with it.
//
// Thread safety: none; it belongs to the worker it was made on. One wait at a time. Movable, but
// not while somebody waits.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "sennit/base/buffer.hpp"
#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/net/address.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::service {

namespace detail {
struct ConnectionState;
struct ConnectionCloser {
  void operator()(ConnectionState* state) const;
};
}  // namespace detail

class Connection {
 public:
  class Wait;

  /// Begins to connect; is_sending() until that has ended, then failure() tells how.
  /// `unread_max`: bytes received and not consumed beyond which no more are taken (the kernel's
  /// buffers then fill up, and the peer waits). It may be exceeded by what one turn brings.
  /// Errors: what socket() and the backend say. On a worker.
  [[nodiscard]] static Result<Connection> open(const net::Address& address,
                                               std::size_t unread_max = std::size_t{64} * 1024);

  /// What flush() is to send. Requires !is_sending() to be written to.
  [[nodiscard]] Buffer& output();
  /// Begins to send all of output(), which is empty afterwards. Requires !is_sending().
  void flush();
  /// Begins to send bytes from where they are; `owner` is kept until the kernel is done with them.
  void send(std::string_view bytes, std::shared_ptr<const void> owner);
  [[nodiscard]] bool is_sending() const;
  /// Bytes the kernel has taken of the last send.
  [[nodiscard]] std::size_t transferred() const;
  /// Why connecting or sending failed.
  [[nodiscard]] const std::optional<Error>& failure() const;

  /// What has come and was not consumed; good until the next call of anything here.
  [[nodiscard]] std::string_view received() const;
  void consume(std::size_t bytes);
  /// The peer has ended its direction (no error), or the connection broke. received() may still
  /// hold what came before.
  [[nodiscard]] bool has_ended() const;
  /// Why it broke; nothing for an orderly end.
  [[nodiscard]] const std::optional<Error>& end_error() const;

  /// Awaitables, Result<void>; errors: timed_out, cancelled. Whatever else happens ends the wait in
  /// success and is to be looked at. wait_sent: nothing is being sent any more.
  [[nodiscard]] Wait wait_sent(Deadline deadline);
  /// More than `seen` bytes are received and not consumed, or nothing more will come.
  [[nodiscard]] Wait wait_received(std::size_t seen, Deadline deadline);
  /// Either of the two.
  [[nodiscard]] Wait wait_any(std::size_t seen, Deadline deadline);

  /// While nobody uses it: `stirred` is called once, when bytes come or the peer ends; it may
  /// destroy the connection. Memory for bytes is given back. Requires that nothing is received or
  /// being sent.
  void start_idling(std::function<void()> stirred);
  void stop_idling();

 private:
  using State = std::unique_ptr<detail::ConnectionState, detail::ConnectionCloser>;
  explicit Connection(State state) : state_(std::move(state)) {}
  State state_;
};

class Connection::Wait {
 public:
  static constexpr const char* waits_for = "a connection";

  Wait(detail::ConnectionState& state, bool sent, std::optional<std::size_t> seen,
       Deadline deadline)
      : state_(state), sent_(sent), seen_(seen), deadline_(deadline) {}
  bool ready();
  bool start(runtime::Waiter& waiter);
  void cancel();
  Result<void> take();

 private:
  friend struct detail::ConnectionState;
  detail::ConnectionState& state_;
  const bool sent_;
  const std::optional<std::size_t> seen_;
  const Deadline deadline_;
  bool timed_out_ = false;
  bool cancelled_ = false;
};

}  // namespace sennit::service
