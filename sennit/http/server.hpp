#pragma once
// Server: routes and handlers, served over HTTP/1.1.
//
//   http::Server server;
//   server.get("/status", [](http::Request&) { return http::text("hello world"); });
//   return server.run(http::ServerOptions(argc, argv));
//
// run() serves until SIGTERM, SIGINT or stop(); then it drains: the readiness endpoint says no,
// then no new connections, what is being answered is finished and announced with `Connection:
// close`, idle connections are closed, all within ServerOptions::drain_timeout. A second signal
// ends the wait.
//
// How routes, groups, middlewares and limits are said: routes.hpp. What handlers may take and
// return: handler.hpp. An exception that leaves one is logged and becomes a 500.
//
// Each route's latency, traffic, errors and load are counted without further ado; metrics_page()
// (metrics_page.hpp) shows them.
//
// Thread safety: routes are added before run(), on one thread; stop() from any thread, at any time;
// port() and registry() from any thread between the end of start() and that of wait().

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/http/options.hpp"
#include "sennit/http/routes.hpp"

namespace sennit::http {

namespace detail {
/// Made before, and destroyed after, the Routes that refer to it.
struct RouteTableOwner {
  RouteTableOwner();
  ~RouteTableOwner();
  std::unique_ptr<RouteTable> owned_table;
};
}  // namespace detail

class Server : private detail::RouteTableOwner, public Routes {
 public:
  Server();
  ~Server();

  /// What handlers ask for as State<T>. `object` must outlive the server.
  template <class T>
  void provide(T& object) {
    state().set(object);
  }

  /// GET on `pattern` answers 200 while the server serves and 503 from stop() on, whatever the
  /// load: for the balancer in front.
  void readiness(std::string_view pattern);

  /// Serves until told to stop. Prints `listening on ADDRESS:PORT` to standard output when ready.
  /// Returns what main() should: 0; 1 if it could not start (the reason is on standard error) or if
  /// requests were cut off at the drain deadline.
  int run(const ServerOptions& options);

  /// Starts serving and returns; stop() and wait() end it. What run() is made of, and for tests.
  /// Errors: whatever listening or starting the workers says.
  [[nodiscard]] Result<void> start(const ServerOptions& options);
  /// Begins to drain. More than once is once; before start() or after wait() it does nothing.
  void stop();
  /// Blocks until drained, then stops the workers. The number of requests that were cut off.
  std::size_t wait();
  /// The port, once started; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const;
  /// Where the server counts.
  [[nodiscard]] metrics::Registry& registry() const;

 private:
  struct Running;
  [[nodiscard]] StateMap& state();
  [[nodiscard]] std::shared_ptr<Running> running() const;

  std::shared_ptr<std::atomic<bool>> is_ready_ = std::make_shared<std::atomic<bool>>(false);
  mutable std::mutex mutex_;  // Guards the pointer.
  std::shared_ptr<Running> running_;
};

}  // namespace sennit::http
