#pragma once
// RouteParams: what a route's {param} segments matched. The router fills it, the request keeps it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sennit::http {

struct RouteParams {
  static constexpr std::size_t count_max = 8;

  struct Param {
    std::string_view name;  // Owned by the router.
    std::string_view raw;   // Part of the path that was looked up, not decoded.
  };

  RouteParams() {}  // Not `= default`: {} would then clear what `count` says is not there.

  std::uint32_t count = 0;
  std::array<Param, count_max> params;
};

}  // namespace sennit::http
