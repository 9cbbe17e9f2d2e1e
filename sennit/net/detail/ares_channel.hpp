#pragma once
// AresChannel: c-ares on a worker. Its sockets are watched by the worker's backend, its timeouts by
// the worker's timers; it never blocks and has no thread.
//
// Thread safety: none; made, used and destroyed on one worker.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/net/address.hpp"

namespace sennit::net::detail {

struct NameAnswer {
  std::vector<Address> addresses;  // Port 0. Not empty.
  Duration ttl = Duration::zero();
};

struct AresOptions {
  std::vector<std::string> servers;  // "127.0.0.1:53"; empty: those of /etc/resolv.conf.
  Duration try_timeout = std::chrono::seconds(2);
  unsigned tries = 2;
  std::size_t addresses_max = 16;
};

class AresChannel {
 public:
  using Done = std::function<void(Result<NameAnswer>)>;

  /// Errors: what c-ares says; invalid_argument for servers it does not understand.
  [[nodiscard]] static Result<std::unique_ptr<AresChannel>> make(const AresOptions& options);
  /// Calls what is still to be called, with `cancelled`.
  ~AresChannel();
  AresChannel(const AresChannel&) = delete;
  AresChannel& operator=(const AresChannel&) = delete;

  /// Asks for both address families. `done` is called once, possibly before this returns.
  /// Errors: not_found (the name, or addresses of it, do not exist), timed_out, malformed,
  /// connection_refused, cancelled, unreachable when the servers fail.
  void look_up(const std::string& name, Done done);

 private:
  struct Impl;
  explicit AresChannel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace sennit::net::detail
