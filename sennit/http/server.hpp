#pragma once
// Server: routes and handlers, served over HTTP/1.1.
//
//   http::Server server;
//   server.get("/status", [](http::Request&) { return http::text("hello world"); });
//   return server.run(http::ServerOptions(argc, argv));
//
// run() serves until SIGTERM, SIGINT or stop(); then it drains: no new connections, what is being
// answered is finished and announced with `Connection: close`, idle connections are closed, all
// within ServerOptions::drain_timeout. A second signal ends the wait.
//
// A plain handler runs on a fiber borrowed for the request, a coroutine in its own frame; see
// handler.hpp for what handlers may return. An exception that leaves one is logged and becomes a
// 500.
//
// Thread safety: routes are added before run(), on one thread; stop() and port() from any thread,
// between the end of start() and that of wait().

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/http/handler.hpp"
#include "sennit/http/options.hpp"
#include "sennit/http/router.hpp"

namespace sennit::http {

class Server {
 public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Adds a route; see router.hpp for patterns. A pattern that is wrong or in conflict with another
  /// is a defect of the program and stops it with a message that shows both.
  template <class F>
  void handle(Method method, std::string_view pattern, F&& handler) {
    add(method, pattern, detail::make_handler(std::forward<F>(handler)));
  }
  template <class F>
  void get(std::string_view pattern, F&& handler) {
    handle(Method::get, pattern, std::forward<F>(handler));
  }
  template <class F>
  void post(std::string_view pattern, F&& handler) {
    handle(Method::post, pattern, std::forward<F>(handler));
  }
  template <class F>
  void put(std::string_view pattern, F&& handler) {
    handle(Method::put, pattern, std::forward<F>(handler));
  }
  template <class F>
  void del(std::string_view pattern, F&& handler) {
    handle(Method::delete_, pattern, std::forward<F>(handler));
  }

  /// Serves until told to stop. Prints `listening on ADDRESS:PORT` to standard output when ready.
  /// Returns what main() should: 0; 1 if it could not start (the reason is on standard error) or if
  /// requests were cut off at the drain deadline.
  int run(const ServerOptions& options);

  /// Starts serving and returns; stop() and wait() end it. What run() is made of, and for tests.
  /// Errors: whatever listening or starting the workers says.
  [[nodiscard]] Result<void> start(const ServerOptions& options);
  /// Begins to drain. More than once is once.
  void stop();
  /// Blocks until drained, then stops the workers. The number of requests that were cut off.
  std::size_t wait();
  /// The port, once started; 0 for a Unix socket.
  [[nodiscard]] std::uint16_t port() const;

 private:
  struct Running;
  void add(Method method, std::string_view pattern, std::shared_ptr<detail::Handler> handler);

  Router router_;
  std::vector<std::shared_ptr<detail::Handler>> handlers_;
  std::unique_ptr<Running> running_;
};

}  // namespace sennit::http
