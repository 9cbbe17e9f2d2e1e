#pragma once
// ServerOptions: where a server listens, how many workers serve, and every limit it keeps.
//
// All can be set in code, and the common ones as flags of a program: ServerOptions(argc, argv).

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/http/h1/chunked.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/runtime/io/backend.hpp"

namespace sennit::metrics {
class Registry;
}

namespace sennit::http {

/// A flag of the program's own, beside those of the server: Flag("--slow-us", "help", &slow_us).
class Flag {
 public:
  /// `target` keeps its value unless the flag is given. Must outlive the parsing.
  Flag(std::string name, std::string help, std::int64_t* target)
      : name_(std::move(name)), help_(std::move(help)), target_(target) {}
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& help() const { return help_; }
  [[nodiscard]] std::int64_t* target() const { return target_; }

 private:
  std::string name_, help_;
  std::int64_t* target_;
};

class ServerOptions {
 public:
  ServerOptions() = default;
  /// From a command line; `--help` lists the flags. Says what is wrong with a flag and exits
  /// with 2.
  ServerOptions(int argc, char** argv, const std::vector<Flag>& own_flags = {});

  std::string host = "127.0.0.1";  // A numeric address, or unix:/path (then `port` is unused).
  std::uint16_t port = 8080;       // 0: the kernel chooses.
  unsigned workers = 0;            // 0: one for each CPU this process may use.
  runtime::io::BackendKind backend = runtime::io::BackendKind::automatic;
  bool pin = false;  // Worker n to the n-th CPU.
  runtime::io::BackendOptions backend_options;
  std::size_t fiber_stack_bytes = std::size_t{64} * 1024;
  std::size_t fibers_max = 30'000;  // Plain handlers that wait at the same time, on each worker.

  /// Listening sockets to serve instead of host and port, for example inherited ones
  /// (net/inherited.hpp); duplicated, and left as they were found.
  std::vector<int> listeners;
  /// Serve what a service manager hands over by LISTEN_FDS, where it does.
  bool inherits_listeners = true;

  /// Where each route's latency, traffic, errors and load are counted; it needs a slot for each
  /// worker and must outlive the server. Null: a registry of the server's own.
  metrics::Registry* registry = nullptr;

  h1::Limits head_limits;
  h1::ChunkedLimits chunked_limits;
  std::size_t body_bytes_max = std::size_t{1024} * 1024;  // 413.
  /// Of all workers together. 0: four fifths of the file limit, which is raised to its maximum.
  std::size_t connections_max = 0;
  /// Requests whose handlers have not ended, of all workers together. More: 503 with Retry-After.
  std::size_t in_flight_max = 50'000;
  /// Requests are shed with 503 so that no more than this is waited for the worker itself.
  /// Zero: never.
  Duration queue_delay_max = std::chrono::milliseconds(50);
  unsigned pipelined_batch_max = 64;  // Requests of one connection answered before others' turn.
  std::size_t unread_bytes_max = std::size_t{64} * 1024;  // Of one, while its handler runs.
  std::size_t output_bytes_max = std::size_t{64} * 1024;  // Not taken by the peer: writers wait.
  std::uint64_t stream_bytes_max = UINT64_MAX;  // Of a body that a handler reads as a stream: 413.

  Duration first_byte_timeout = std::chrono::seconds(10);  // Of a new connection: closed.
  Duration head_timeout = std::chrono::seconds(10);        // From its first byte: 408.
  Duration body_timeout = std::chrono::seconds(30);        // Without progress: 408.
  std::uint64_t body_rate_min = 240;  // Bytes a second while we wait for it, 0 for none: 408.
  Duration body_rate_grace = std::chrono::seconds(10);  // Before that rate is asked for.
  Duration write_timeout = std::chrono::seconds(30);    // Without progress: closed.
  Duration idle_timeout = std::chrono::seconds(75);     // Between requests: closed. Jittered.
  Duration handler_timeout = Duration::max();     // Cancelled, 503. See also Route::timeout().
  Duration connection_age_max = Duration::max();  // Then the next answer is announced as the last.

  /// A client that is gone cancels its handler. One that ended its own direction only may still
  /// read the answer, if it comes within half_close_grace.
  bool cancel_on_disconnect = true;
  Duration half_close_grace = std::chrono::seconds(1);

  /// From a stop until draining begins, while the readiness endpoint says no and all is served.
  Duration unready_delay = Duration::zero();
  /// A stop lets requests finish for at most this long.
  Duration drain_timeout = std::chrono::seconds(10);
  /// During a stop, connections that stay idle for this long are closed.
  Duration drain_idle_timeout = std::chrono::milliseconds(500);
};

}  // namespace sennit::http
