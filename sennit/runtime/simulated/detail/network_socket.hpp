#pragma once
// A socket of the simulated network.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "sennit/runtime/simulated/network.hpp"

namespace sennit::runtime::simulated {

struct Network::NetSocket {
  std::uint64_t id = 0;  // Never used again, as its descriptor is.
  std::string machine;
  SocketName local;
  Watcher* watcher = nullptr;
  io::Socket token;

  bool is_listening = false;
  bool reuses_port = false;
  bool refuses = false;
  std::size_t backlog_max = 0;
  std::deque<std::uint64_t> backlog;  // Connections nobody has accepted.

  SocketName peer;
  std::string peer_machine;
  int connect_result = 0;
  std::uint64_t connection = 0;  // 0: none.
  int side = 0;                  // Which end of it.
};

}  // namespace sennit::runtime::simulated
