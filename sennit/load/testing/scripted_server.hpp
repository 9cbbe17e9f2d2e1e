#pragma once
// ScriptedServer: a server that does to each of its connections what a test tells it to.
//
// Blocking sockets on a few threads of its own, so that it shares no code with what it is to test.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace sennit::load::testing {

/// The server's end of one connection.
class Peer {
 public:
  explicit Peer(int descriptor) : descriptor_(descriptor) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Waits for the first bytes of a request. False when the connection is over.
  bool see_request() { return !received_.empty() || receive(); }
  /// Waits for a head, and for the body it announces. False when the connection is over.
  bool read_request();
  /// The last one, head and body.
  [[nodiscard]] const std::string& request() const { return request_; }
  /// False when the connection is over.
  bool send(std::string_view bytes);
  /// Ends with a reset instead of an orderly close.
  void reset();
  /// Reads and drops until the connection is over.
  void wait_for_end();

 private:
  bool receive();

  const int descriptor_;
  std::string received_;
  std::string request_;
};

class ScriptedServer {
 public:
  using Script = std::function<void(Peer&)>;

  /// Listens on a port of 127.0.0.1. At most `connections` are served at a time, each by a call of
  /// `script`; the connection is closed when that returns. Of further ones `backlog` wait, and
  /// those beyond get no answer from the kernel.
  explicit ScriptedServer(Script script, unsigned connections = 16, int backlog = 1024);
  /// Ends the connections; a script sees that in what it calls.
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url(std::string_view target = "/") const;
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

}  // namespace sennit::load::testing
