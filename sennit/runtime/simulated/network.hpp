#pragma once
// Network: machines, links between them, and stream sockets over these, in memory.
//
// What a socket sees is what TCP shows of a bad network: bytes arrive in order and uncorrupted, but
// late, in pieces, or not at all.
//   latency     each segment takes between latency_min and latency_max, drawn by the seed; segments
//               of one connection stay in order, those of different connections overtake each other
//   bandwidth   a link carries one segment after the other, all connections together
//   loss        a lost segment comes a retransmission later: 200 ms, then twice as long each time
//   reset       both ends get ECONNRESET; what had arrived may still be read
//   partition   nothing gets through; after heal() what was held comes a retransmission later. Data
//               unacknowledged for 924 s, or a connect unanswered for 127 s, fails with ETIMEDOUT
// A sender may have window_bytes under way or unread, then send waits. A machine has one name, an
// IP address; a loopback address means the machine itself, and so does a Unix socket's path.
//
// The names of machines may be "*" for any. The link set last that fits decides.
//
// Thread safety: none.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/simulated/detail/connection.hpp"
#include "sennit/runtime/simulated/detail/socket_name.hpp"

namespace sennit::runtime::simulated {

class Kernel;

/// One direction between two machines.
struct Link {
  Duration latency_min = std::chrono::microseconds(50);
  Duration latency_max = std::chrono::microseconds(500);
  std::uint64_t bytes_per_second = 0;  // 0: as many as there are.
  double loss = 0;                     // Probability for each segment.
  double reset = 0;                    // Likewise.
  std::size_t window_bytes = std::size_t{256} * 1024;
  std::size_t segment_bytes_max = std::size_t{16} * 1024;
};

class Network {
 public:
  /// Told that a socket may have become readable or writable.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void changed(io::Socket socket) = 0;
  };

  explicit Network(Kernel& kernel);
  ~Network();

  // --- Faults -----------------------------------------------------------------------------

  /// Both directions.
  void set_link(std::string_view one, std::string_view other, const Link& link);
  void set_link_one_way(std::string_view from, std::string_view to, const Link& link);
  /// Both directions, until heal().
  void partition(std::string_view one, std::string_view other);
  void heal(std::string_view one, std::string_view other);
  /// Every connection between the two, at once. Returns how many.
  std::size_t reset_connections(std::string_view one, std::string_view other);

  [[nodiscard]] std::size_t connection_count() const { return connections_.size(); }
  [[nodiscard]] std::size_t descriptor_count() const { return sockets_.size(); }

  // --- What the backend calls: as system calls, with negated errnos -----------------------

  [[nodiscard]] int open(std::string_view machine, int family);
  int listen(std::string_view machine, const detail::SocketName& name, int backlog,
             bool reuse_port);
  [[nodiscard]] int accept(int listener);
  /// 0, -EINPROGRESS, or why not.
  [[nodiscard]] int connect(int descriptor, const detail::SocketName& name);
  /// Of a connect in progress: 0, -EINPROGRESS, or why not.
  [[nodiscard]] int connect_result(int descriptor) const;
  [[nodiscard]] std::ptrdiff_t receive(int descriptor, char* room, std::size_t bytes);
  std::ptrdiff_t send(int descriptor, std::string_view bytes);
  void shut_down_writing(int descriptor);
  void close(int descriptor);
  void refuse_new_connections(int listener);
  /// Null for a descriptor that is not open.
  [[nodiscard]] const detail::SocketName* name_of(int descriptor) const;
  void watch(int descriptor, Watcher* watcher, io::Socket socket);

 private:
  using SocketName = detail::SocketName;
  using Connection = detail::Connection;
  struct NetSocket;
  struct LinkRule {
    std::string from, to;
    Link link;
  };
  struct Cut {
    std::string one, other;
  };

  [[nodiscard]] NetSocket* find(int descriptor) const;
  [[nodiscard]] const Link& link(const std::string& from, const std::string& to) const;
  [[nodiscard]] bool is_cut(const std::string& from, const std::string& to) const;
  [[nodiscard]] Duration latency(const std::string& from, const std::string& to);
  [[nodiscard]] TimePoint departure(const std::string& from, const std::string& to,
                                    std::size_t bytes);
  void notify(int descriptor);

  // Connecting.
  [[nodiscard]] std::vector<NetSocket*> listeners_at(const std::string& machine,
                                                     const SocketName& name) const;
  [[nodiscard]] std::uint16_t free_port(const std::string& machine);
  void attempt(std::uint64_t socket_id, int descriptor, int attempts);
  void retry_later(std::uint64_t socket_id, int descriptor, int attempts);
  void finish_connect(std::uint64_t socket_id, int descriptor, int result);
  Connection& establish(NetSocket& client, NetSocket& listener);

  // Carrying.
  void transmit(Connection& connection, int side, std::string bytes, bool is_end);
  void arrive(std::uint64_t connection_id, int side);
  void hold(Connection& connection, int side);
  void release(Connection& connection, int side);
  void acknowledge(Connection& connection, int side, std::size_t bytes);
  void send_reset(Connection& connection, int to_side);
  void fail(Connection& connection, int side, int os_error);
  void leave(Connection& connection, int side);
  void forget_if_unused(std::uint64_t connection_id);

  Kernel& kernel_;
  std::vector<LinkRule> rules_;
  std::vector<Cut> cuts_;
  std::map<std::pair<std::string, std::string>, TimePoint> free_at_;
  std::map<int, std::unique_ptr<NetSocket>> sockets_;
  std::vector<int> listeners_;  // Descriptors.
  std::map<std::uint64_t, std::unique_ptr<Connection>> connections_;
  std::uint64_t next_id_ = 1;
  std::map<std::string, std::uint16_t> next_port_;
};

}  // namespace sennit::runtime::simulated
