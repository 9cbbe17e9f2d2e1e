#pragma once
// Middlewares that most services want, and a page of metrics.
//
//   server.use(http::access_log()).use(http::request_id());
//   server.get("/metrics", http::metrics_page(server)).always_served();
//
// A timeout and a body limit are no middlewares but Routes::timeout() and Routes::body_limit():
// they hold before a handler runs, and cancel what runs.
//
// Thread safety: they are called by every worker.

#include <functional>
#include <string>

#include "sennit/http/middleware.hpp"
#include "sennit/http/server.hpp"

namespace sennit::http {

/// One line for each answer, at level info: method, target, status, bytes of the body ("-" if they
/// are not known yet), milliseconds, request id. Whatever the client sent, it is one line.
[[nodiscard]] std::function<Task<Response>(Request&, Next)> access_log();

struct RequestIdOptions {
  std::string header = "X-Request-Id";
  /// Take the client's id if it has one: 1 to 128 letters, digits and "-_.:". For servers behind a
  /// proxy of one's own.
  bool trusts_client = false;
};

/// Gives each answer an id that is unique in practice: 128 bits of chance.
[[nodiscard]] std::function<Task<Response>(Request&, Next)> request_id(
    const RequestIdOptions& options = {});

/// Answers with everything the server counts, for Prometheus. `server` must outlive it.
[[nodiscard]] std::function<Response(Request&)> metrics_page(const Server& server);

}  // namespace sennit::http
