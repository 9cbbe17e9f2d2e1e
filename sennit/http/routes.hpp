#pragma once
// Routes: which function answers what, what goes around it, and within which limits. A Server is
// one; group() makes more of them, with a prefix:
//
//   http::Routes& api = server.group("/api").use(authenticate).timeout(2s);
//   api.get("/users/{id}", show_user);                       // GET /api/users/{id}
//   api.post("/photos", store_photo).body_limit(20 << 20).timeout(30s);
//
// See router.hpp for patterns, handler.hpp for functions, middleware.hpp for use(). A limit of a
// route comes before its group's, that before the server's options. use() also holds for routes
// that were added before it.
//
// A pattern that is wrong or in conflict with another is a defect of the program and stops it with
// a message that shows both.
//
// Thread safety: none; everything is said before the server starts. References live as long as the
// server.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/http/handler.hpp"
#include "sennit/http/method.hpp"
#include "sennit/http/middleware.hpp"
#include "sennit/http/router.hpp"

namespace sennit::http {

/// Duration::max() as a timeout and SIZE_MAX as a limit say that there is none.
struct RouteLimits {
  std::optional<std::size_t> body_bytes_max;  // Held in memory, or read as a stream: 413.
  std::optional<Duration> timeout;            // Of the handler: cancelled, 503.
};

namespace detail {
class RouteTable;
}

/// One route, to say more about it.
class Route {
 public:
  template <class F>
  Route& use(F&& middleware) {
    middlewares_.push_back(detail::make_middleware(std::forward<F>(middleware)));
    return *this;
  }
  Route& body_limit(std::size_t bytes);
  Route& timeout(Duration timeout);
  /// Answered also when the server sheds load or has too many requests in flight: for health
  /// checks and metrics.
  Route& always_served();

 private:
  friend class detail::RouteTable;
  friend class Routes;
  Method method_ = Method::get;
  std::string pattern_;
  std::shared_ptr<detail::Handler> handler_;
  const class Routes* group_ = nullptr;
  std::vector<std::shared_ptr<detail::Middleware>> middlewares_;
  RouteLimits limits_;
  bool is_always_served_ = false;
};

class Routes {
 public:
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;
  ~Routes();

  template <class F>
  Route& handle(Method method, std::string_view pattern, F&& handler) {
    return add(method, pattern, detail::make_handler(std::forward<F>(handler)));
  }
  template <class F>
  Route& get(std::string_view pattern, F&& handler) {
    return handle(Method::get, pattern, std::forward<F>(handler));
  }
  template <class F>
  Route& post(std::string_view pattern, F&& handler) {
    return handle(Method::post, pattern, std::forward<F>(handler));
  }
  template <class F>
  Route& put(std::string_view pattern, F&& handler) {
    return handle(Method::put, pattern, std::forward<F>(handler));
  }
  template <class F>
  Route& patch(std::string_view pattern, F&& handler) {
    return handle(Method::patch, pattern, std::forward<F>(handler));
  }
  template <class F>
  Route& del(std::string_view pattern, F&& handler) {
    return handle(Method::delete_, pattern, std::forward<F>(handler));
  }

  template <class F>
  Routes& use(F&& middleware) {
    return add(detail::make_middleware(std::forward<F>(middleware)));
  }
  Routes& body_limit(std::size_t bytes);
  Routes& timeout(Duration timeout);
  /// Routes whose patterns begin with ours and then `prefix`, which begins with a slash and does
  /// not end with one.
  [[nodiscard]] Routes& group(std::string_view prefix);

 protected:
  explicit Routes(detail::RouteTable& table) : table_(table) {}

 private:
  friend class detail::RouteTable;
  Route& add(Method method, std::string_view pattern, std::shared_ptr<detail::Handler> handler);
  Routes& add(std::shared_ptr<detail::Middleware> middleware);

  detail::RouteTable& table_;
  const Routes* parent_ = nullptr;
  std::string prefix_;
  std::vector<std::shared_ptr<detail::Middleware>> middlewares_;
  RouteLimits limits_;
  std::vector<std::unique_ptr<Routes>> groups_;
};

}  // namespace sennit::http
