#pragma once
// RawServer: a server that does to each of its connections what a test tells it to, for tests of
// clients and load generators.
//
// Blocking sockets on a few threads of its own, so that it shares no code with what it is to test.
// Reads give up when the server is destroyed.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sennit::http::testing {

/// The server's end of one connection.
class RawPeer {
 public:
  explicit RawPeer(int descriptor) : descriptor_(descriptor) {}
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  /// Waits for the first bytes of a request. False when the connection is over.
  bool see_request() { return !received_.empty() || receive(); }
  /// Waits for a head, and not for a body. False when the connection is over.
  bool read_head();
  /// Waits until `bytes` of a body have come; how many there are, at most that many.
  std::size_t read_body(std::size_t bytes);
  /// A head and the body whose Content-Length it announces. False when the connection is over.
  bool read_request();
  /// The head of the last one, and its body.
  [[nodiscard]] const std::string& head() const { return head_; }
  [[nodiscard]] const std::string& body() const { return body_; }
  /// Both.
  [[nodiscard]] std::string request() const { return head_ + body_; }
  /// What has come and was not asked for yet.
  [[nodiscard]] const std::string& rest() const { return received_; }
  /// False when the connection is over.
  bool send(std::string_view bytes);
  /// The connection ends with a reset when the script returns.
  void reset();
  /// Reads and drops until the connection is over.
  void wait_for_end();

 private:
  bool receive();

  const int descriptor_;
  std::string received_;
  std::string head_;
  std::string body_;
};

class RawServer {
 public:
  using Script = std::function<void(RawPeer&)>;

  /// Listens on a port of 127.0.0.1. At most `threads` connections are served at a time, each by a
  /// call of `script`; it is closed when that returns. Of further ones `backlog` wait, and those
  /// beyond get no answer from the kernel.
  explicit RawServer(Script script, unsigned threads = 16, int backlog = 1024);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  [[nodiscard]] std::string url(std::string_view target = "/") const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::uint64_t connection_count() const { return connection_count_; }

 private:
  void serve(std::atomic<int>& connection);

  const Script script_;
  std::uint16_t port_ = 0;
  int listener_;
  std::atomic<bool> is_ending_ = false;
  std::atomic<std::uint64_t> connection_count_ = 0;
  std::vector<std::atomic<int>> connections_;  // Of each thread: its descriptor, or -1.
  std::vector<std::thread> threads_;
};

/// "http://127.0.0.1:PORT/" where nobody listens.
[[nodiscard]] std::string refusing_url();

}  // namespace sennit::http::testing
