#pragma once
// DirectBackendTest: a fixture that drives one I/O backend by hand, without a worker.
//
// Everything happens on the test's thread inside poll_until() or settle(), so a test says exactly
// what the backend has seen. The other end of each socket is a plain descriptor.

#include <array>
#include <chrono>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/testing/backend_test.hpp"

namespace sennit::runtime::io::testing {

/// A descriptor of the test's own, closed at the end.
class Peer {
 public:
  explicit Peer(int descriptor = -1) : descriptor_(descriptor) {}
  Peer(Peer&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Peer& operator=(Peer&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Peer() { close(); }

  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }
  void close() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  void write(std::string_view text) const {
    ASSERT_EQ(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  /// What is there now, at most `bytes_max`; "" also at the end.
  [[nodiscard]] std::string read_now(std::size_t bytes_max = 1 << 20) const {
    std::string text(bytes_max, '\0');
    const ssize_t bytes = ::recv(descriptor_, text.data(), text.size(), MSG_DONTWAIT);
    text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    return text;
  }
  /// Whether the other side has ended its direction and all of it has been read.
  [[nodiscard]] bool at_end() const {
    char byte = 0;
    return ::recv(descriptor_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
  }

 private:
  int descriptor_;
};

/// An operation that writes down its completions. Accepted descriptors are closed.
class Recorder : public Operation {
 public:
  Recorder()
      : Operation([](Operation& operation, const Completion& completion) {
          static_cast<Recorder&>(operation).record(completion);
        }) {}

  std::string bytes;
  std::vector<int> results;  // Of completions without bytes and of those that ended something.
  int accepted = 0;
  int completions = 0;
  bool ended = false;  // The last completion has come.
  std::function<void(const Completion&)> then;

  /// Of the completion that ended it.
  [[nodiscard]] int final_result() const { return results.empty() ? 1 << 30 : results.back(); }
  /// Notes the result of a start that returned true.
  void done_at_once() {
    EXPECT_FALSE(in_flight());
    results.push_back(result());
    ended = true;
  }

 private:
  void record(const Completion& completion) {
    EXPECT_FALSE(ended) << "a completion after the last";
    EXPECT_EQ(completion.more, in_flight()) << "a stream is in flight until its last completion";
    ++completions;
    bytes.append(completion.bytes);
    if (completion.more && completion.bytes.empty()) {
      ++accepted;
      int flags = ::fcntl(completion.result, F_GETFD);
      EXPECT_EQ(flags, FD_CLOEXEC);
      ::close(completion.result);
    }
    if (!completion.more) {
      ended = true;
      results.push_back(completion.result);
    }
    if (then) then(completion);
  }
};

class DirectBackendTest : public runtime::testing::BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) make({});
  }

  void make(const BackendOptions& backend_options) {
    auto made = make_backend(GetParam(), backend_options);
    ASSERT_TRUE(made.has_value()) << made.error().to_string();
    backend_ = *std::move(made);
  }
  /// In the child of a death test: forgets the parent's backend, whose ring is not there, for a new
  /// one.
  void make_in_child() {
    [[maybe_unused]] Backend* const of_the_parent = backend_.release();
    make({});
  }
  [[nodiscard]] Backend& backend() { return *backend_; }

  /// Polls until it is true; false if it is not within seconds.
  [[nodiscard]] bool poll_until(const std::function<bool()>& is_true) {
    const RealClock clock;
    const Deadline deadline = Deadline::after(std::chrono::seconds(20), clock);
    while (!is_true()) {
      if (deadline.expired(clock.now())) return false;
      backend_->poll(std::chrono::milliseconds(20));
    }
    return true;
  }
  [[nodiscard]] bool poll_until_ended(const Recorder& recorder) {
    return poll_until([&] { return recorder.ended; });
  }
  /// Polls a few times without waiting: for what must not happen, and for what already has.
  void settle() {
    for (int i = 0; i < 5; ++i) backend_->poll(Duration::zero());
  }

  /// One end with the backend, the other with the test.
  [[nodiscard]] std::pair<Socket, Peer> make_pair() {
    std::array<int, 2> ends{};
    SENNIT_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, errno);
    return {adopt(ends[0]), Peer(ends[1])};
  }
  [[nodiscard]] Socket adopt(int descriptor) {
    const auto adopted = backend_->adopt(descriptor);
    SENNIT_ASSERT(adopted.has_value(), adopted.error().to_string());
    return *adopted;
  }

  static Peer tcp_socket() { return Peer(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
  /// Listens on a free port of 127.0.0.1, which it writes to `address`.
  static Peer tcp_listener(sockaddr_in& address, int backlog) {
    Peer listener = tcp_socket();
    address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    SENNIT_ASSERT(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) == 0, errno);
    SENNIT_ASSERT(::listen(listener.get(), backlog) == 0, errno);
    ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return listener;
  }
  /// A plain socket connected to `address`.
  static Peer tcp_client(const sockaddr_in& address) {
    Peer client = tcp_socket();
    SENNIT_ASSERT(
        ::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
        errno);
    return client;
  }
  [[nodiscard]] std::pair<Socket, Peer> make_tcp_pair() {
    sockaddr_in address{};
    const Peer listener = tcp_listener(address, 1);
    Peer client = tcp_client(address);
    return {adopt(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)), std::move(client)};
  }
  /// Starts a send and notes its result if it is done at once.
  void send(Recorder& recorder, Socket socket, std::string_view bytes) {
    if (backend_->send(recorder, socket, bytes)) recorder.done_at_once();
  }
  /// Closes and waits until nothing is left of it.
  void close_all(std::initializer_list<Socket> sockets) {
    for (const Socket socket : sockets) backend_->close(socket);
    EXPECT_TRUE(poll_until([&] { return backend_->socket_count() == 0; }));
  }

 private:
  std::unique_ptr<Backend> backend_;
};

/// Bytes whose order shows.
inline std::string pattern(std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>((i * 31 + i / 251) & 0xff);
  return text;
}

}  // namespace sennit::runtime::io::testing
