// What happens to bytes on their way through the simulated network.
//
// 1. send() takes what fits into the window, cuts it into segments, and gives each an arrival.
// 2. An arrival is a token: it moves the first segment that flies to the other end. So segments of
//    one connection stay in order whatever happens to the tokens.
// 3. A partition holds tokens back; heal() gives them out again after a retransmission's time.
// 4. Reading acknowledges: the window opens again when the acknowledgement has come back.
// 5. A segment that reaches a closed end is answered by a reset, and so is closing with unread
//    bytes.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/simulated/detail/network_socket.hpp"
#include "sennit/runtime/simulated/kernel.hpp"
#include "sennit/runtime/simulated/network.hpp"

namespace sennit::runtime::simulated {
namespace {

using namespace std::chrono_literals;

constexpr Duration retransmission = 200ms;
constexpr Duration retransmission_max = 120s;
constexpr Duration give_up_after = 924s;  // Linux's tcp_retries2.
constexpr std::size_t header_bytes = 66;

}  // namespace

TimePoint Network::departure(const std::string& from, const std::string& to, std::size_t bytes) {
  const std::uint64_t rate = link(from, to).bytes_per_second;
  if (rate == 0) return kernel_.now();
  TimePoint& free_at = free_at_[{from, to}];
  const double seconds = static_cast<double>(bytes + header_bytes) / static_cast<double>(rate);
  free_at = std::max(free_at, kernel_.now()) +
            std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return free_at;
}

std::ptrdiff_t Network::send(int descriptor, std::string_view bytes) {
  NetSocket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  const auto found = connections_.find(socket->connection);
  if (found == connections_.end()) return socket->connection == 0 ? -ENOTCONN : -EPIPE;
  Connection& connection = *found->second;
  Connection::End& end = connection.ends[socket->side];
  if (end.error != 0) return -std::exchange(end.error, 0);
  if (end.broken || end.way.end_sent) return -EPIPE;
  const Link& way = link(end.machine, connection.ends[1 - socket->side].machine);
  if (end.way.unacknowledged >= way.window_bytes) return bytes.empty() ? 0 : -EAGAIN;
  const std::string_view taken = bytes.substr(0, way.window_bytes - end.way.unacknowledged);
  for (std::size_t at = 0; at < taken.size();) {
    const std::size_t size = kernel_.random().below(way.segment_bytes_max) + 1;
    transmit(connection, socket->side, std::string(taken.substr(at, size)), false);
    at += std::min(size, taken.size() - at);
  }
  return static_cast<std::ptrdiff_t>(taken.size());
}

void Network::shut_down_writing(int descriptor) {
  NetSocket* const socket = find(descriptor);
  if (socket == nullptr) return;
  const auto found = connections_.find(socket->connection);
  if (found == connections_.end()) return;
  Connection::End& end = found->second->ends[socket->side];
  if (end.broken || std::exchange(end.way.end_sent, true)) return;
  transmit(*found->second, socket->side, {}, true);
}

void Network::transmit(Connection& connection, int side, std::string bytes, bool is_end) {
  Connection::End& end = connection.ends[side];
  const std::string& to = connection.ends[1 - side].machine;
  const Link& way = link(end.machine, to);
  TimePoint arrival = departure(end.machine, to, bytes.size()) + latency(end.machine, to);
  for (Duration wait = retransmission; kernel_.happens(way.loss);) {
    arrival += wait;
    wait = std::min(2 * wait, retransmission_max);
  }
  arrival = std::max(arrival, end.way.last_arrival);
  end.way.last_arrival = arrival;
  end.way.unacknowledged += bytes.size();
  end.way.flying.push_back({.bytes = std::move(bytes), .is_end = is_end});
  if (kernel_.happens(way.reset)) {
    kernel_.at(arrival, [this, id = connection.id] {
      const auto found = connections_.find(id);
      if (found == connections_.end()) return;
      for (const int each : {0, 1}) fail(*found->second, each, ECONNRESET);
      forget_if_unused(id);
    });
  }
  kernel_.at(arrival, [this, id = connection.id, side] { arrive(id, side); });
}

void Network::arrive(std::uint64_t connection_id, int side) {
  const auto found = connections_.find(connection_id);
  if (found == connections_.end()) return;
  Connection& connection = *found->second;
  Connection::End& from = connection.ends[side];
  Connection::End& to = connection.ends[1 - side];
  if (from.way.flying.empty()) return;  // Broken meanwhile.
  if (is_cut(from.machine, to.machine)) return hold(connection, side);
  const Connection::Segment segment = std::move(from.way.flying.front());
  from.way.flying.pop_front();
  kernel_.note(segment.is_end ? "end" : "segment", connection_id * 2 + unsigned(side),
               segment.bytes.size());
  if (to.descriptor == Connection::nobody || to.broken) {
    if (!segment.is_end) send_reset(connection, side);
  } else {
    to.arrived += segment.bytes;
    to.end_arrived = to.end_arrived || segment.is_end;
    notify(to.descriptor);
  }
  forget_if_unused(connection_id);
}

void Network::hold(Connection& connection, int side) {
  Connection::Way& way = connection.ends[side].way;
  if (way.held++ > 0) return;
  const std::uint64_t hold_count = ++way.hold_count;
  kernel_.after(give_up_after, [this, id = connection.id, side, hold_count] {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    const Connection::Way& held_way = found->second->ends[side].way;
    if (held_way.held == 0 || held_way.hold_count != hold_count) return;
    fail(*found->second, side, ETIMEDOUT);
    forget_if_unused(id);
  });
}

void Network::release(Connection& connection, int side) {
  Connection::Way& way = connection.ends[side].way;
  if (way.held == 0) return;
  if (is_cut(connection.ends[side].machine, connection.ends[1 - side].machine)) return;
  const TimePoint again =
      kernel_.now() + kernel_.random_duration(std::chrono::milliseconds(1), retransmission);
  way.last_arrival = std::max(way.last_arrival, again);
  for (; way.held > 0; --way.held) {
    kernel_.at(again, [this, id = connection.id, side] { arrive(id, side); });
  }
}

std::ptrdiff_t Network::receive(int descriptor, char* room, std::size_t bytes) {
  NetSocket* const socket = find(descriptor);
  if (socket == nullptr) return -EBADF;
  const auto found = connections_.find(socket->connection);
  if (found == connections_.end()) return socket->connection == 0 ? -ENOTCONN : 0;
  Connection& connection = *found->second;
  Connection::End& end = connection.ends[socket->side];
  const std::size_t unread = end.arrived.size() - end.read;
  if (unread > 0) {
    const std::size_t taken = std::min(bytes, unread);
    std::memcpy(room, end.arrived.data() + end.read, taken);
    end.read += taken;
    if (end.read == end.arrived.size()) {
      end.arrived.clear();
      end.read = 0;
    }
    acknowledge(connection, 1 - socket->side, taken);
    return static_cast<std::ptrdiff_t>(taken);
  }
  if (end.error != 0) return -std::exchange(end.error, 0);
  return end.end_arrived || end.broken ? 0 : -EAGAIN;
}

void Network::acknowledge(Connection& connection, int side, std::size_t bytes) {
  const Duration back = latency(connection.ends[1 - side].machine, connection.ends[side].machine);
  kernel_.after(back, [this, id = connection.id, side, bytes] {
    const auto found = connections_.find(id);
    if (found == connections_.end()) return;
    Connection::End& sender = found->second->ends[side];
    sender.way.unacknowledged -= std::min(bytes, sender.way.unacknowledged);
    if (sender.descriptor >= 0) notify(sender.descriptor);
  });
}

// Resets are not retransmitted: one that a partition swallows is gone, and the peer learns of it
// when it sends.
void Network::send_reset(Connection& connection, int to_side) {
  const std::string from = connection.ends[1 - to_side].machine;
  const std::string to = connection.ends[to_side].machine;
  const TimePoint arrival =
      std::max(kernel_.now() + latency(from, to), connection.ends[1 - to_side].way.last_arrival);
  kernel_.at(arrival, [this, id = connection.id, to_side, from, to] {
    const auto found = connections_.find(id);
    if (found == connections_.end() || is_cut(from, to)) return;
    fail(*found->second, to_side, ECONNRESET);
    forget_if_unused(id);
  });
}

void Network::fail(Connection& connection, int side, int os_error) {
  Connection::End& end = connection.ends[side];
  if (end.broken) return;
  kernel_.note("broken", connection.id * 2 + unsigned(side), unsigned(os_error));
  end.broken = true;
  end.error = os_error;
  end.way.flying.clear();
  end.way.held = 0;
  notify(end.descriptor);
}

// Closing: what was sent still arrives, then the end; unread bytes make it a reset.
void Network::leave(Connection& connection, int side) {
  Connection::End& end = connection.ends[side];
  const bool has_unread = end.arrived.size() > end.read;
  end.descriptor = Connection::nobody;
  end.arrived.clear();
  end.read = 0;
  kernel_.note("close", connection.id * 2 + unsigned(side));
  if (!end.broken && has_unread) {
    end.broken = true;
    end.way.flying.clear();
    send_reset(connection, 1 - side);
  } else if (!end.broken && !std::exchange(end.way.end_sent, true)) {
    transmit(connection, side, {}, true);
  }
  forget_if_unused(connection.id);
}

void Network::forget_if_unused(std::uint64_t connection_id) {
  const auto found = connections_.find(connection_id);
  if (found == connections_.end()) return;
  for (const Connection::End& end : found->second->ends) {
    if (end.descriptor != Connection::nobody || !end.way.flying.empty()) return;
  }
  connections_.erase(found);
}

}  // namespace sennit::runtime::simulated
