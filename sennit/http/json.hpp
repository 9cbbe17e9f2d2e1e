#pragma once
// JSON to and from plain structs, over nlohmann-json.
//
//   struct User { int id = 0; std::string name; };
//   NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(User, id, name)
//
//   server.post("/users", [](const http::Json<User>& user) -> http::Json<User> { return *user; });
//
// As an argument it is the request's body: 415 unless that is application/json, 400 for what is no
// JSON, 422 for JSON that does not fit the struct. As a result it is the response's.
//
// Input is hostile: at most json_depth_max levels, no name twice in an object, only UTF-8, no
// number that a double or 64 bits do not hold. A number that fits JSON but not the member it is for
// (300 for a std::uint8_t) is refused if the struct can also be written, by writing it again and
// comparing; the library itself would cut it off.
//
// nlohmann-json because it is the one whose struct mapping people know and that all supported
// distributions package; simdjson and RapidJSON are faster and map no structs.
//
// This header costs compile time; include it where it is used. Thread safety: functions.

#include <concepts>
#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/http/arguments.hpp"
#include "sennit/http/handler.hpp"

namespace sennit::http {

inline constexpr std::size_t json_depth_max = 64;

/// Errors: malformed, with the place; limit_reached for too many levels.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text);

template <class T>
struct Json {
  T value;
  explicit(false) Json(T v) : value(std::move(v)) {}
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};

namespace detail {
/// Whether each number of `given` is what `kept` has in its place, where that has one.
[[nodiscard]] bool keeps_numbers(const nlohmann::json& given, const nlohmann::json& kept);
[[nodiscard]] Response bad_json(const Error& error);
[[nodiscard]] Response unfit_json(std::string_view why);
/// 500 when `value` cannot be written, as with text that is not UTF-8.
[[nodiscard]] Response json_response(const nlohmann::json& value);
}  // namespace detail

template <class T>
struct FromRequest<Json<T>> {
  static std::expected<Json<T>, Response> get(Request& request) {
    if (auto refusal = detail::wrong_type(request, "application/json")) {
      return std::unexpected(*std::move(refusal));
    }
    const Result<nlohmann::json> given = parse_json(request.body());
    if (!given) return std::unexpected(detail::bad_json(given.error()));
    try {
      Json<T> read(given->get<T>());
      if constexpr (std::constructible_from<nlohmann::json, const T&>) {
        if (!detail::keeps_numbers(*given, nlohmann::json(read.value))) {
          return std::unexpected(detail::unfit_json("a number is out of range"));
        }
      }
      return read;
    } catch (const nlohmann::json::exception& exception) {
      return std::unexpected(detail::unfit_json(exception.what()));
    }
  }
};

template <class T>
struct ToResponse<Json<T>> {
  static Response make(Json<T>&& result) {
    return detail::json_response(nlohmann::json(std::move(result.value)));
  }
};

}  // namespace sennit::http
