#pragma once
// RouteTable: all routes of a server; and what a worker needs of each, put together at start.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sennit/http/routes.hpp"
#include "sennit/http/state.hpp"

namespace sennit::http::detail {

/// What each request looks at. The handler has all middlewares around it.
struct ServedRoute {
  std::shared_ptr<Handler> handler;
  std::size_t body_bytes_max;
  std::uint64_t stream_bytes_max;
  Duration timeout;  // Duration::max() for none.
  bool streams_body;
  bool is_always_served;
  std::string name;  // "GET /users/{id}", for metrics.
};

class RouteTable {
 public:
  Route& add(const Routes& group, Method method, std::string_view pattern,
             std::shared_ptr<Handler> handler);
  /// No more routes from now on.
  void freeze() { is_frozen_ = true; }
  void thaw() { is_frozen_ = false; }
  [[nodiscard]] bool is_frozen() const { return is_frozen_; }
  [[nodiscard]] const Router& router() const { return router_; }
  [[nodiscard]] StateMap& state() { return state_; }

  struct Defaults {
    std::size_t body_bytes_max;
    std::uint64_t stream_bytes_max;
    Duration timeout;
  };
  /// One for each route, by its index in the router, and behind them for each the one that answers
  /// what the path has and the method does not; the last one answers paths that are not there at
  /// all. Those without any middleware are null.
  [[nodiscard]] std::vector<ServedRoute> served(const Routes& root, const Defaults& defaults) const;

 private:
  [[nodiscard]] static std::vector<std::shared_ptr<Middleware>> around(const Routes* group);
  Router router_;
  StateMap state_;
  std::vector<std::unique_ptr<Route>> routes_;
  bool is_frozen_ = false;
};

}  // namespace sennit::http::detail
