#include "sennit/http/detail/redirect.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "sennit/http/detail/chars.hpp"

namespace sennit::http::detail {
namespace {

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(
      names, [name](std::string_view each) { return equals_ignoring_case(name, each); });
}

constexpr std::array<std::string_view, 4> credentials = {"authorization", "cookie", "cookie2",
                                                         "proxy-authorization"};
constexpr std::array<std::string_view, 6> of_a_body = {"content-type",     "content-encoding",
                                                       "content-language", "content-location",
                                                       "content-length",   "expect"};

}  // namespace

bool is_redirect(Status status) {
  switch (status) {
    case Status::moved_permanently:
    case Status::found:
    case Status::see_other:
    case Status::temporary_redirect:
    case Status::permanent_redirect:
      return true;
    default:
      return false;
  }
}

bool becomes_get(Status status, Method method) {
  if (status == Status::see_other) return method != Method::get && method != Method::head;
  const bool is_old = status == Status::moved_permanently || status == Status::found;
  return is_old && method == Method::post;
}

Headers redirected_headers(const Headers& headers, const Url& from, const Url& to,
                           bool loses_body) {
  const bool is_elsewhere = from.origin() != to.origin();
  Headers kept;
  for (const Header header : headers) {
    if (equals_ignoring_case(header.name, "host")) continue;
    if (is_elsewhere && is_one_of(header.name, credentials)) continue;
    if (loses_body && is_one_of(header.name, of_a_body)) continue;
    [[maybe_unused]] const auto added = kept.add(header.name, header.value);
  }
  return kept;
}

bool is_idempotent(Method method) {
  switch (method) {
    case Method::get:
    case Method::head:
    case Method::options:
    case Method::trace:
    case Method::put:
    case Method::delete_:
      return true;
    default:
      return false;
  }
}

}  // namespace sennit::http::detail
