#pragma once
// Router: from a method and a path to the index of a handler.
//
//   /status            exactly this path; "/status/" is another one
//   /users/{id}        one segment that is not empty
//   /files/{rest*}     the rest of the path, slashes included; may be empty; only at the end
//
// Where several patterns match, the leftmost difference decides: static text before {param} before
// {rest*}. A branch that leads nowhere is left again, so /a/b with only POST does not hide a GET
// of /a/{x}. A HEAD without a route of its own takes the GET's.
//
// The path is split at its slashes first and decoded afterwards: "%2F" is a character of its
// segment and never splits one, and "/%75sers" is "/users". Nothing else is normalised: "//" is an
// empty segment, ".." a segment of two dots.
//
// Thread safety: find() any number of threads once the last add() has returned. find() allocates
// nothing; its cost grows with the segments of the path and the routes that share its beginning.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/http/method.hpp"
#include "sennit/http/route_params.hpp"

namespace sennit::http {

/// A set of methods, one bit each.
class MethodSet {
 public:
  constexpr MethodSet() = default;
  constexpr void add(Method method) { bits_ |= bit(method); }
  constexpr void add(MethodSet other) { bits_ |= other.bits_; }
  [[nodiscard]] constexpr bool contains(Method method) const { return (bits_ & bit(method)) != 0; }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  bool operator==(const MethodSet&) const = default;

 private:
  static constexpr std::uint32_t bit(Method method) { return 1U << static_cast<unsigned>(method); }
  std::uint32_t bits_ = 0;
};

/// "GET, HEAD, OPTIONS", as an Allow field says it.
[[nodiscard]] std::string to_string(MethodSet methods);

class Router {
 public:
  enum class Found : std::uint8_t {
    route,               // handler_index and the parameters are set.
    not_found,           // 404.
    method_not_allowed,  // 405 with `allowed`.
    options,             // An OPTIONS that no route takes, or "*": 204 with `allowed`.
    bad_request,         // 400: an escape that is not valid, or an encoded NUL.
  };

  struct Match {
    Found found = Found::not_found;
    /// Where the path has a route of another method only, one of these; nobody's for "*".
    std::uint32_t handler_index = 0;
    MethodSet allowed;         // With the HEAD and OPTIONS that are answered without a route.
    std::string_view pattern;  // Of that route, for metrics and logs. Owned by the router.
  };

  Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;
  ~Router();

  /// Adds a route. `handler_index` is the caller's; several routes may share one.
  ///
  /// Errors: invalid_argument for a pattern that is not one, for Method::other, and for more than
  /// RouteParams::count_max parameters; already_exists, with both patterns in the message, when a
  /// route of that method matches the same paths. Neither changes the router.
  Result<> add(Method method, std::string_view pattern, std::uint32_t handler_index);

  /// `path` without the query, as it was sent. `params` is set for Found::route and may change
  /// otherwise; it views `path` and names that the router owns.
  [[nodiscard]] Match find(Method method, std::string_view path, RouteParams& params) const;

  [[nodiscard]] std::size_t route_count() const { return routes_.size(); }

 private:
  struct Node;
  struct Route;
  struct StaticTable;
  struct Search;

  std::unique_ptr<Node> root_;
  std::vector<std::unique_ptr<Route>> routes_;
  std::unique_ptr<StaticTable> statics_;  // Paths of routes without parameters, whole.
};

}  // namespace sennit::http
