#pragma once
// The kernel as a worker sees it: operations go in, completions come out.
//
//   one-shot   connect, send, watch, file one completion
//   streams    accept, receive            many completions, the last one has more == false
//
// Rules, the same for every backend:
// 1. An Operation lives with whoever started it (a frame, a stack, a connection); starting one
//    allocates nothing. It must stay where it is until its last completion.
// 2. Completions come only from inside poll(), never from inside the call that starts or cancels.
//    Exception, to spare a round: a start that returns true is already done, its result is in
//    result(), and no completion will come.
// 3. cancel() asks; the operation ends with its last completion, which is ECANCELED or, if that was
//    quicker, its ordinary result: no byte and no descriptor is lost.
// 4. A socket is a slot of the backend plus a generation. close() cancels what is in flight on it,
//    each gets its last completion, and then the descriptor is closed. A stale Socket is refused by
//    assertion, so that no operation hits a reused descriptor.
// 5. Bytes received are lent for the duration of the completion call; keep what you need of them.
// 6. At most one read-side (accept, receive) and one write-side (connect, send) operation at a time
//    on each socket.
//
// Thread safety: none but wake(). A backend belongs to one worker and is made on its thread.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"

namespace sennit::runtime {
class BlockingPool;
namespace simulated {
class Kernel;
}
}  // namespace sennit::runtime

namespace sennit::runtime::io {

/// Names a socket that was adopted by a backend. A value; it owns nothing.
struct Socket {
  std::uint32_t slot = UINT32_MAX;
  std::uint32_t generation = 0;
  [[nodiscard]] bool is_valid() const { return slot != UINT32_MAX; }
  bool operator==(const Socket&) const = default;
};

struct Completion {
  /// Bytes moved, an accepted descriptor, 0 at the end of a stream; or a negated errno.
  int result = 0;
  /// True while the stream goes on; a one-shot operation has a single completion, false.
  bool more = false;
  /// What was received; lent until the call returns.
  std::string_view bytes;
};

/// Bookkeeping of one operation. Derive from it, or hold it as a member.
class Operation {
 public:
  using Completed = void (*)(Operation&, const Completion&);
  explicit Operation(Completed completed) : completed_(completed) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation();  // Requires !in_flight().

  [[nodiscard]] bool in_flight() const { return kind_ != Kind::none; }
  /// Of an operation whose start returned true. No more than INT_MAX, however long a send was.
  [[nodiscard]] int result() const { return result_; }
  /// Bytes a send has handed to the kernel so far: grows while a slow peer reads.
  [[nodiscard]] std::size_t transferred() const { return transferred_; }

 private:
  friend class Backend;
  friend class EpollBackend;
  friend class SimulatedBackend;
  friend class UringBackend;
  enum class Kind : std::uint8_t { none, accept, receive, connect, send, watch, file };

  Completed completed_;
  Kind kind_ = Kind::none;
  bool cancelled_ = false;
  bool rearm_queued_ = false;  // The backend will start the stream again by itself.
  int result_ = 0;
  Socket socket_;
  const char* data_ = nullptr;  // send: what is left; connect: the address.
  std::size_t bytes_ = 0;
  std::size_t transferred_ = 0;
};

/// A call on files: which, and on what. All of it must stay as it is while in flight.
class FileOperation : public Operation {
 public:
  enum class Call : std::uint8_t { open, read, write, sync };
  using Operation::Operation;

  Call call = Call::read;
  int descriptor = -1;         // But for open.
  const char* path = nullptr;  // open, with flags and mode as open(2) has them.
  int flags = 0;
  unsigned mode = 0;
  std::span<char> room;      // read
  std::string_view data;     // write
  std::uint64_t offset = 0;  // read, write

 private:
  friend class EpollBackend;
  void* job_ = nullptr;  // The backend's.
};

/// What a watch() waits for. A descriptor that failed or hung up counts as both.
struct Interest {
  bool readable = false;
  bool writable = false;
};

struct BackendOptions {
  /// Receive buffers shared by all connections of the worker (io_uring's provided ring; epoll
  /// needs one). A power of two. 256 * 8 KiB = 2 MiB a worker.
  unsigned receive_buffers = 256;
  std::size_t receive_buffer_bytes = 8 * 1024;
  /// Connections taken from one listener in one turn, so that a flood does not starve the rest.
  unsigned accept_burst = 64;
  /// epoll only: where calls on files run. Null: threads of its own.
  BlockingPool* blocking_pool = nullptr;
  /// BackendKind::simulated only: the kernel that stands in for the real one, which outlives the
  /// backend, and the machine of its network that this worker is part of, an IP address.
  simulated::Kernel* simulated_kernel = nullptr;
  std::string simulated_machine = "127.0.0.1";
};

/// Makes and names sockets where there is no real kernel to ask: what is system calls elsewhere.
/// Descriptors are numbers that only this source and its backends understand.
class SocketSource {
 public:
  virtual ~SocketSource() = default;
  /// Errors: EMFILE; EAFNOSUPPORT for what is not AF_INET, AF_INET6 or AF_UNIX.
  [[nodiscard]] virtual Result<int> open(int family) = 0;
  /// A listening socket bound to the sockaddr `address`.
  /// Errors: EADDRINUSE, EMFILE, EINVAL, EADDRNOTAVAIL.
  [[nodiscard]] virtual Result<int> listen(const void* address, std::size_t address_bytes,
                                           int backlog, bool reuse_port) = 0;
  /// Writes the sockaddr a socket is bound to; the result is its size.
  [[nodiscard]] virtual Result<std::size_t> local_address(int descriptor, void* address,
                                                          std::size_t room_bytes) = 0;
  /// Connection attempts are dropped from now on, as if each had been lost.
  virtual void refuse_new_connections(int listener) = 0;
  /// Closes a descriptor that no backend has adopted.
  virtual void discard(int descriptor) = 0;
};

/// The rings that are shared with the kernel: what is in them, and the most that can be.
struct RingDepth {
  std::size_t submissions = 0;  // Queued, and not handed over yet.
  std::size_t completions = 0;  // Come, and not taken yet.
  std::size_t submissions_max = 0;
  std::size_t completions_max = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// "io_uring", "epoll" or "simulated".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Null: sockets are the real kernel's, made with its system calls.
  [[nodiscard]] virtual SocketSource* sockets() { return nullptr; }

  /// Takes ownership of a socket, sets the blocking mode it needs; closes it on failure.
  /// Errors: what epoll_ctl says; limit_reached without memory for a slot.
  [[nodiscard]] virtual Result<Socket> adopt(int descriptor) = 0;
  /// See rule 4.
  virtual void close(Socket socket) = 0;
  /// Ends our direction; the peer reads the end of the stream. Immediate, so no write-side
  /// operation may be in flight.
  virtual void shut_down_writing(Socket socket) = 0;
  /// For getsockopt and the like; stays owned by the backend.
  [[nodiscard]] virtual int descriptor(Socket socket) const = 0;

  /// Stream of accepted descriptors, which are close-on-exec and belong to the receiver. Failures
  /// of single connections are skipped; when a resource runs out (EMFILE, ENFILE, ENOBUFS, ENOMEM)
  /// the stream ends with that error, to be started again after a while.
  virtual void accept(Operation& operation, Socket listener) = 0;
  /// Stream of bytes; ends with 0 when the peer ends its direction, or with an error.
  virtual void receive(Operation& operation, Socket socket) = 0;
  /// All of `bytes`, which must stay where they are; fails with what was sent in transferred().
  [[nodiscard]] virtual bool send(Operation& operation, Socket socket, std::string_view bytes) = 0;
  /// `address` is a sockaddr that must stay where it is.
  [[nodiscard]] virtual bool connect(Operation& operation, Socket socket, const void* address,
                                     std::size_t address_bytes) = 0;
  /// Until a descriptor that somebody else owns, such as a library, is readable or writable. The
  /// result is 1 if readable, 2 if writable, 3 if both; or a negated errno: EOPNOTSUPP of a backend
  /// that knows no descriptors. It must stay open until the completion, and be watched once at a
  /// time; pass a duplicate if that cannot be promised.
  [[nodiscard]] virtual bool watch(Operation& operation, int descriptor, Interest interest);
  static constexpr int watched_readable = 1, watched_writable = 2;
  /// On io_uring the kernel's own, on epoll a thread of the blocking pool (and an allocation), as
  /// no readiness tells when a disk will answer. The result is a descriptor, 0 of a sync, or bytes:
  /// as many as the kernel likes, at most file_bytes_max, 0 at the end of the file. -EAGAIN when
  /// the pool's queue is full.
  virtual void file(FileOperation& operation) = 0;
  static constexpr std::size_t file_bytes_max = std::size_t{1} << 30;  // A result is an int.
  /// Closes a descriptor that a file operation has opened. At once.
  virtual void close_file(int descriptor);
  /// See rule 3. Nothing happens if the operation is not in flight.
  virtual void cancel(Operation& operation) = 0;

  /// Hands queued work to the kernel, waits at most `timeout` for something to complete
  /// (Duration::max() for ever), and calls the completions.
  virtual void poll(Duration timeout) = 0;
  /// Calls `call(argument)` in each poll() between its wait and the first completion: who looks at
  /// the time in a completion wants that of what happened, not that of before a long wait.
  void when_woken(void (*call)(void* argument), void* argument) {
    woken_ = call;
    woken_argument_ = argument;
  }
  /// Ends a poll() that waits, or the next one. Any thread.
  virtual void wake() = 0;

  /// Sockets adopted and not yet closed.
  [[nodiscard]] virtual std::size_t socket_count() const = 0;
  /// Those of them whose close() waits for the last completions of what is in flight.
  [[nodiscard]] virtual std::size_t closing_count() const = 0;
  /// All 0 where there are no rings.
  [[nodiscard]] virtual RingDepth ring_depth() const { return {}; }

 protected:
  /// For implementations, see when_woken().
  void woken() {
    if (woken_ != nullptr) woken_(woken_argument_);
  }

 private:
  void (*woken_)(void*) = nullptr;
  void* woken_argument_ = nullptr;
};

/// `simulated` is for tests, see sennit/runtime/testing/simulation.hpp.
enum class BackendKind : unsigned char { automatic, uring, epoll, simulated };

/// "auto", "uring", "epoll".
/// Errors: invalid_argument for any other name.
[[nodiscard]] Result<BackendKind> backend_kind_from_name(std::string_view name);

/// Why io_uring cannot be used here; empty if it can. Asks the kernel, so ask once.
[[nodiscard]] std::string uring_refusal();

/// The kind to use when the user does not care: io_uring where it works in full (Linux 6.0).
/// `reason` says why, for the log.
struct BackendChoice {
  BackendKind kind;
  std::string reason;
};
/// Errors: unsupported when io_uring is asked for by name and refused.
[[nodiscard]] Result<BackendChoice> choose_backend(BackendKind wanted);

/// Errors: what the kernel refuses. Requires a kind that is not `automatic`, and a simulated_kernel
/// for `simulated`.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_backend(BackendKind kind,
                                                            const BackendOptions& options);

}  // namespace sennit::runtime::io
