#include "sennit/http/routes.hpp"

#include <algorithm>

#include "sennit/base/assert.hpp"
#include "sennit/http/detail/route_table.hpp"

namespace sennit::http {
namespace {

// Answers what no route does, inside of middlewares.
class Unmatched final : public detail::Handler {
 public:
  [[nodiscard]] bool is_coroutine() const override { return true; }
  Response call(Request& request) override { return answer(request); }
  Task<Response> start(Request& request) override { co_return answer(request); }

 private:
  static Response answer(const Request& request) {
    return detail::unmatched_response(*request.match());
  }
};

}  // namespace

Route& Route::body_limit(std::size_t bytes) {
  limits_.body_bytes_max = bytes;
  return *this;
}

Route& Route::timeout(Duration timeout) {
  limits_.timeout = timeout;
  return *this;
}

Route& Route::always_served() {
  is_always_served_ = true;
  return *this;
}

Routes::~Routes() = default;

Routes& Routes::body_limit(std::size_t bytes) {
  limits_.body_bytes_max = bytes;
  return *this;
}

Routes& Routes::timeout(Duration timeout) {
  limits_.timeout = timeout;
  return *this;
}

Routes& Routes::group(std::string_view prefix) {
  SENNIT_ASSERT(prefix.starts_with('/') && !prefix.ends_with('/'), prefix);
  groups_.push_back(std::unique_ptr<Routes>(new Routes(table_)));
  Routes& group = *groups_.back();
  group.parent_ = this;
  group.prefix_ = prefix_ + std::string(prefix);
  return group;
}

Route& Routes::add(Method method, std::string_view pattern,
                   std::shared_ptr<detail::Handler> handler) {
  return table_.add(*this, method, prefix_ + std::string(pattern), std::move(handler));
}

Routes& Routes::add(std::shared_ptr<detail::Middleware> middleware) {
  SENNIT_ASSERT(!table_.is_frozen() && "middlewares are added before the server starts");
  middlewares_.push_back(std::move(middleware));
  return *this;
}

namespace detail {

Route& RouteTable::add(const Routes& group, Method method, std::string_view pattern,
                       std::shared_ptr<Handler> handler) {
  SENNIT_ASSERT(!is_frozen_ && "routes are added before the server starts");
  const Result<> added = router_.add(method, pattern, static_cast<std::uint32_t>(routes_.size()));
  SENNIT_ASSERT(added.has_value(), added.error().to_string());
  Route& route = *routes_.emplace_back(std::make_unique<Route>());
  route.method_ = method;
  route.pattern_ = pattern;
  route.handler_ = std::move(handler);
  route.group_ = &group;
  return route;
}

// Those of the outermost group first.
std::vector<std::shared_ptr<Middleware>> RouteTable::around(const Routes* group) {
  std::vector<const Routes*> groups;
  for (; group != nullptr; group = group->parent_) groups.push_back(group);
  std::vector<std::shared_ptr<Middleware>> all;
  for (auto each = groups.rbegin(); each != groups.rend(); ++each) {
    all.insert(all.end(), (*each)->middlewares_.begin(), (*each)->middlewares_.end());
  }
  return all;
}

std::vector<ServedRoute> RouteTable::served(const Routes& root, const Defaults& defaults) const {
  const auto chain = [](auto middlewares, std::shared_ptr<Handler> last) {
    if (middlewares.empty()) return last;
    return std::shared_ptr<Handler>(std::make_shared<Chain>(std::move(middlewares), last));
  };
  std::vector<ServedRoute> all;
  for (const auto& route : routes_) {
    route->handler_->check({route->pattern_, state_});
    auto middlewares = around(route->group_);
    middlewares.insert(middlewares.end(), route->middlewares_.begin(), route->middlewares_.end());
    RouteLimits limits = route->limits_;
    for (const Routes* group = route->group_; group != nullptr; group = group->parent_) {
      if (!limits.body_bytes_max) limits.body_bytes_max = group->limits_.body_bytes_max;
      if (!limits.timeout) limits.timeout = group->limits_.timeout;
    }
    const bool streams = route->handler_->streams_body();
    all.push_back({
        .handler = chain(std::move(middlewares), route->handler_),
        .body_bytes_max = limits.body_bytes_max.value_or(defaults.body_bytes_max),
        .stream_bytes_max =
            limits.body_bytes_max ? *limits.body_bytes_max : defaults.stream_bytes_max,
        .timeout = limits.timeout.value_or(defaults.timeout),
        .streams_body = streams,
        .is_always_served = route->is_always_served_,
        .name = std::string(to_string(route->method_)) + " " + route->pattern_,
    });
  }
  const auto add_unmatched = [&](std::vector<std::shared_ptr<Middleware>> middlewares) {
    all.push_back({
        .handler = middlewares.empty()
                       ? nullptr
                       : chain(std::move(middlewares), std::make_shared<Unmatched>()),
        .body_bytes_max = 0,
        .stream_bytes_max = 0,
        .timeout = defaults.timeout,
        .streams_body = true,  // It is dropped.
        .is_always_served = false,
        .name = "unmatched",
    });
  };
  for (const auto& route : routes_) {
    auto middlewares = around(route->group_);
    middlewares.insert(middlewares.end(), route->middlewares_.begin(), route->middlewares_.end());
    add_unmatched(std::move(middlewares));
  }
  add_unmatched(around(&root));
  return all;
}

}  // namespace detail
}  // namespace sennit::http
