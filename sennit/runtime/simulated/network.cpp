#include "sennit/runtime/simulated/network.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <sys/socket.h>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/simulated/detail/network_socket.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

// Sockets, links and connecting; what happens to bytes is in detail/simulated_traffic.cpp.

namespace sennit::runtime::simulated {
namespace {

using namespace std::chrono_literals;

constexpr int descriptor_base = 1 << 30;  // Far from any the real kernel gives out.
constexpr int connect_attempts_max = 7;   // After 1, 2, 4 ... 64 s: 127 s in all, as Linux.

// Links to oneself, unless they are set: a pipe within the machine.
constexpr Link loopback = {.latency_min = 5us, .latency_max = 50us};
constexpr Link between_machines = {};

bool fits(std::string_view pattern, std::string_view machine) {
  return pattern == "*" || pattern == machine;
}

bool name_same_pair(std::string_view a, std::string_view b, std::string_view c,
                    std::string_view d) {
  return (a == c && b == d) || (a == d && b == c);
}

}  // namespace

Network::Network(Kernel& kernel) : kernel_(kernel) {}
Network::~Network() = default;

// --- Links --------------------------------------------------------------------------------------

void Network::set_link_one_way(std::string_view from, std::string_view to, const Link& link) {
  SENNIT_ASSERT(link.latency_min <= link.latency_max && link.window_bytes > 0 &&
                link.segment_bytes_max > 0);
  rules_.push_back({.from = std::string(from), .to = std::string(to), .link = link});
}

void Network::set_link(std::string_view one, std::string_view other, const Link& link) {
  set_link_one_way(one, other, link);
  set_link_one_way(other, one, link);
}

const Link& Network::link(const std::string& from, const std::string& to) const {
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (fits(rule->from, from) && fits(rule->to, to)) return rule->link;
  }
  return from == to ? loopback : between_machines;
}

void Network::partition(std::string_view one, std::string_view other) {
  kernel_.note("partition");
  cuts_.push_back({.one = std::string(one), .other = std::string(other)});
}

void Network::heal(std::string_view one, std::string_view other) {
  kernel_.note("heal");
  std::erase_if(cuts_,
                [&](const Cut& cut) { return name_same_pair(cut.one, cut.other, one, other); });
  for (auto& [id, connection] : connections_) {
    for (const int side : {0, 1}) release(*connection, side);
  }
}

bool Network::is_cut(const std::string& from, const std::string& to) const {
  return std::ranges::any_of(cuts_, [&](const Cut& cut) {
    return (fits(cut.one, from) && fits(cut.other, to)) ||
           (fits(cut.one, to) && fits(cut.other, from));
  });
}

std::size_t Network::reset_connections(std::string_view one, std::string_view other) {
  std::vector<std::uint64_t> between;
  for (const auto& [id, connection] : connections_) {
    const std::string& a = connection->ends[0].machine;
    const std::string& b = connection->ends[1].machine;
    if ((fits(one, a) && fits(other, b)) || (fits(one, b) && fits(other, a))) between.push_back(id);
  }
  for (const std::uint64_t id : between) {
    for (const int side : {0, 1}) fail(*connections_.at(id), side, ECONNRESET);
    forget_if_unused(id);
  }
  return between.size();
}

Duration Network::latency(const std::string& from, const std::string& to) {
  const Link& way = link(from, to);
  return kernel_.random_duration(way.latency_min, way.latency_max);
}

// --- Sockets ------------------------------------------------------------------------------------

Network::NetSocket* Network::find(int descriptor) const {
  const auto found = sockets_.find(descriptor);
  return found == sockets_.end() ? nullptr : found->second.get();
}

void Network::notify(int descriptor) {
  NetSocket* const socket = find(descriptor);
  if (socket != nullptr && socket->watcher != nullptr) socket->watcher->changed(socket->token);
}

void Network::watch(int descriptor, Watcher* watcher, io::Socket socket) {
  NetSocket* const watched = find(descriptor);
  if (watched == nullptr) return;
  watched->watcher = watcher;
  watched->token = socket;
}

int Network::open(std::string_view machine, int family) {
  if (family != AF_INET && family != AF_INET6 && family != AF_UNIX) return -EAFNOSUPPORT;
  if (sockets_.size() >= kernel_.options().descriptors_max) return -EMFILE;
  int descriptor = descriptor_base;  // The lowest that is free, as everywhere.
  for (const auto& [used, socket] : sockets_) {
    if (used != descriptor) break;
    ++descriptor;
  }
  auto socket = std::make_unique<NetSocket>();
  socket->id = next_id_++;
  socket->machine = machine;
  socket->local.family = family;
  sockets_.emplace(descriptor, std::move(socket));
  return descriptor;
}

std::uint16_t Network::free_port(const std::string& machine) {
  std::uint16_t& next = next_port_.try_emplace(machine, 32768).first->second;
  for (int tries = 0; tries < 28232; ++tries) {
    const std::uint16_t port = next;
    next = next >= 60999 ? 32768 : static_cast<std::uint16_t>(next + 1);
    const bool is_used = std::ranges::any_of(listeners_, [&](const int listener) {
      const NetSocket& each = *find(listener);
      return each.machine == machine && each.local.port == port;
    });
    if (!is_used) return port;
  }
  return 0;
}

int Network::listen(std::string_view machine, const SocketName& name, int backlog,
                    bool reuse_port) {
  const bool is_elsewhere =
      !name.is_unix() && !name.is_any() && !name.is_loopback() && name.host != machine;
  if (is_elsewhere) return -EADDRNOTAVAIL;
  SocketName bound = name;
  if (!bound.is_unix() && bound.port == 0) bound.port = free_port(std::string(machine));
  for (const int listener : listeners_) {
    const NetSocket* const other = find(listener);
    const bool overlaps = other->machine == machine && other->local.is_unix() == bound.is_unix() &&
                          other->local.port == bound.port &&
                          (other->local.host == bound.host ||
                           (!bound.is_unix() && (bound.is_any() || other->local.is_any())));
    if (overlaps && !(reuse_port && other->reuses_port)) return -EADDRINUSE;
  }
  const int descriptor = open(machine, name.family);
  if (descriptor < 0) return descriptor;
  NetSocket& socket = *find(descriptor);
  socket.is_listening = true;
  socket.reuses_port = reuse_port;
  socket.backlog_max = static_cast<std::size_t>(std::max(backlog, 1));
  socket.local = bound;
  listeners_.push_back(descriptor);
  return descriptor;
}

void Network::refuse_new_connections(int listener) {
  if (NetSocket* const socket = find(listener)) socket->refuses = true;
}

const detail::SocketName* Network::name_of(int descriptor) const {
  const NetSocket* const socket = find(descriptor);
  return socket == nullptr ? nullptr : &socket->local;
}

int Network::accept(int listener) {
  NetSocket* const socket = find(listener);
  if (socket == nullptr) return -EBADF;
  if (!socket->is_listening) return -EINVAL;
  if (socket->backlog.empty()) return -EAGAIN;
  const int descriptor = open(socket->machine, socket->local.family);
  if (descriptor < 0) return descriptor;
  Connection& connection = *connections_.at(socket->backlog.front());
  socket->backlog.pop_front();
  NetSocket& accepted = *find(descriptor);
  accepted.local = socket->local;
  accepted.connection = connection.id;
  accepted.side = 1;
  connection.ends[1].descriptor = descriptor;
  kernel_.note("accept", connection.id);
  return descriptor;
}

void Network::close(int descriptor) {
  const auto found = sockets_.find(descriptor);
  if (found == sockets_.end()) return;
  const std::unique_ptr<NetSocket> socket = std::move(found->second);
  sockets_.erase(found);
  if (socket->is_listening) std::erase(listeners_, descriptor);
  for (const std::uint64_t id : socket->backlog) {
    Connection& connection = *connections_.at(id);
    connection.ends[1].descriptor = Connection::nobody;
    send_reset(connection, 0);
    forget_if_unused(id);
  }
  if (socket->connection == 0) return;
  const auto connection = connections_.find(socket->connection);
  if (connection != connections_.end()) leave(*connection->second, socket->side);
}

// --- Connecting ---------------------------------------------------------------------------------

std::vector<Network::NetSocket*> Network::listeners_at(const std::string& machine,
                                                       const SocketName& name) const {
  std::vector<NetSocket*> exact, any;
  for (const int listener : listeners_) {
    NetSocket* const socket = find(listener);
    if (socket->machine != machine) continue;
    if (socket->local.is_unix() != name.is_unix() || socket->local.port != name.port) continue;
    if (socket->local.host == name.host) exact.push_back(socket);
    if (!name.is_unix() && socket->local.is_any()) any.push_back(socket);
  }
  std::vector<NetSocket*>& found = exact.empty() ? any : exact;
  // Who stopped listening leaves them to a successor on the same port.
  const bool has_successor = std::ranges::any_of(found, [](auto* each) { return !each->refuses; });
  if (has_successor) std::erase_if(found, [](const NetSocket* each) { return each->refuses; });
  return found;
}

int Network::connect(int descriptor, const SocketName& name) {
  NetSocket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  if (socket->is_listening || socket->connection != 0) return -EISCONN;
  socket->peer = name;
  const bool is_here = name.is_unix() || name.is_loopback() || name.is_any();
  socket->peer_machine = is_here ? socket->machine : name.host;
  socket->connect_result = -EINPROGRESS;
  if (!name.is_unix()) {
    if (socket->peer.is_any()) socket->peer.host = "127.0.0.1";
    socket->local.host = is_here ? socket->peer.host : socket->machine;
    socket->local.port = free_port(socket->machine);
    attempt(socket->id, descriptor, 0);
    return -EINPROGRESS;
  }
  const auto listeners = listeners_at(socket->machine, name);
  if (listeners.empty()) return socket->connect_result = -ECONNREFUSED;
  if (listeners.front()->backlog.size() >= listeners.front()->backlog_max) {
    return socket->connect_result = -EAGAIN;
  }
  establish(*socket, *listeners.front()).ends[0].descriptor = descriptor;
  return socket->connect_result = 0;
}

int Network::connect_result(int descriptor) const {
  const NetSocket* const socket = find(descriptor);
  return socket == nullptr ? -EBADF : socket->connect_result;
}

Network::Connection& Network::establish(NetSocket& client, NetSocket& listener) {
  auto made = std::make_unique<Connection>();
  Connection& connection = *made;
  connection.id = next_id_++;
  connection.ends[0].machine = client.machine;
  connection.ends[1].machine = listener.machine;
  connection.ends[1].descriptor = Connection::unaccepted;
  connections_.emplace(connection.id, std::move(made));
  client.connection = connection.id;
  client.side = 0;
  listener.backlog.push_back(connection.id);
  if (listener.watcher != nullptr) listener.watcher->changed(listener.token);
  kernel_.note("connection", connection.id);
  return connection;
}

// The socket may be closed, and its descriptor another's, before this happens.
void Network::attempt(std::uint64_t socket_id, int descriptor, int attempts) {
  const NetSocket& client = *find(descriptor);
  const std::string from = client.machine, to = client.peer_machine;
  kernel_.note("connect", socket_id, static_cast<std::uint64_t>(attempts));
  if (is_cut(from, to) || kernel_.happens(link(from, to).loss)) {
    return retry_later(socket_id, descriptor, attempts);
  }
  kernel_.after(latency(from, to), [this, socket_id, descriptor, attempts, from, to] {
    NetSocket* const socket = find(descriptor);
    if (socket == nullptr || socket->id != socket_id) return;
    if (is_cut(from, to)) return retry_later(socket_id, descriptor, attempts);
    const auto listeners = listeners_at(to, socket->peer);
    int result = -ECONNREFUSED;
    if (!listeners.empty()) {
      NetSocket& listener = *listeners[kernel_.random().below(listeners.size())];
      if (listener.refuses || listener.backlog.size() >= listener.backlog_max) {
        return retry_later(socket_id, descriptor, attempts);
      }
      establish(*socket, listener).ends[0].descriptor = descriptor;
      result = 0;
    }
    kernel_.after(latency(to, from), [this, socket_id, descriptor, result] {
      finish_connect(socket_id, descriptor, result);
    });
  });
}

void Network::retry_later(std::uint64_t socket_id, int descriptor, int attempts) {
  const Duration pause = std::chrono::seconds(1) * (std::int64_t{1} << attempts);
  kernel_.after(pause, [this, socket_id, descriptor, attempts] {
    NetSocket* const socket = find(descriptor);
    if (socket == nullptr || socket->id != socket_id) return;
    if (attempts + 1 == connect_attempts_max) {
      return finish_connect(socket_id, descriptor, -ETIMEDOUT);
    }
    attempt(socket_id, descriptor, attempts + 1);
  });
}

void Network::finish_connect(std::uint64_t socket_id, int descriptor, int result) {
  NetSocket* const socket = find(descriptor);
  if (socket == nullptr || socket->id != socket_id) return;
  if (socket->connect_result != -EINPROGRESS) return;
  socket->connect_result = result;
  notify(descriptor);
}

}  // namespace sennit::runtime::simulated
