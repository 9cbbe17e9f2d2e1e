#pragma once
// Arguments: what a handler takes by writing it into its signature.
//
//   server.get("/users/{id}", [](http::Path<int, "id"> id, http::Query<std::optional<int>, "page">
//   page, http::State<Database> db) { return show(*db, *id, page->value_or(1)); });
//
//   Path<T, "name">   a parameter of the route's pattern, which must have it
//   Query<T, "name">  a query parameter; a std::optional<T> may be missing
//   Form              a form as the body (form.hpp)
//   State<T>          what Server::provide() was given, which must have it
//   Json<T>           see json.hpp
//
// T is an integer, a floating-point number, bool ("true", "false", "1", "0") or std::string. What
// does not fit is a problem document: 400, or 415 for another type of body.
//
// Thread safety: values.

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/form.hpp"
#include "sennit/http/handler.hpp"

namespace sennit::http {

/// A string literal as a template argument.
template <std::size_t n>
struct Name {
  char text[n]{};
  // NOLINTNEXTLINE(google-explicit-constructor): it is what makes Path<int, "id"> work.
  consteval Name(const char (&literal)[n]) { std::copy_n(literal, n, text); }
  [[nodiscard]] constexpr std::string_view view() const { return {text, n - 1}; }
};

template <class T, Name name>
struct Path {
  T value;
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};
template <class T, Name name>
struct Query {
  T value;
  const T& operator*() const { return value; }
  const T* operator->() const { return &value; }
};
template <class T>
class State {
 public:
  explicit State(T& object) : object_(&object) {}
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }

 private:
  T* object_;
};

/// From text as a client writes it; nothing if it is none, or out of range.
template <class T>
[[nodiscard]] std::optional<T> parse_argument(std::string_view text) {
  if constexpr (std::same_as<T, std::string>) {
    return std::string(text);
  } else if constexpr (std::same_as<T, bool>) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    return std::nullopt;
  } else {
    static_assert(std::integral<T> || std::floating_point<T>,
                  "an argument is a number, a bool or a std::string");
    T number{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    if constexpr (std::floating_point<T>) {
      if (!(number - number == 0)) return std::nullopt;  // "inf" and "nan" are no input.
    }
    return number;
  }
}

namespace detail {
/// 400 that names what does not fit.
[[nodiscard]] Response bad_argument(std::string_view kind, std::string_view name);
/// Nothing if the request's Content-Type is `wanted`, parameters aside; else 415.
[[nodiscard]] std::optional<Response> wrong_type(const Request& request, std::string_view wanted);

template <class T>
struct OptionalOf {
  using type = T;
  static constexpr bool is_optional = false;
};
template <class T>
struct OptionalOf<std::optional<T>> {
  using type = T;
  static constexpr bool is_optional = true;
};
}  // namespace detail

template <class T, Name name>
struct FromRequest<Path<T, name>> {
  static std::expected<Path<T, name>, Response> get(Request& request) {
    auto value = parse_argument<T>(request.param(name.view()));
    if (!value) return std::unexpected(detail::bad_argument("path parameter", name.view()));
    return Path<T, name>{*std::move(value)};
  }
  static void check(const RouteFacts& facts) {
    const std::string wanted = "{" + std::string(name.view());
    SENNIT_ASSERT((facts.pattern.find(wanted + "}") != facts.pattern.npos ||
                   facts.pattern.find(wanted + "*}") != facts.pattern.npos) &&
                      "a handler takes a path parameter that its route does not have",
                  facts.pattern, name.view());
  }
};

template <class T, Name name>
struct FromRequest<Query<T, name>> {
  using Optional = detail::OptionalOf<T>;
  static std::expected<Query<T, name>, Response> get(Request& request) {
    const std::optional<std::string> text = request.query(name.view());
    if (!text) {
      if constexpr (Optional::is_optional) return Query<T, name>{};
      return std::unexpected(detail::bad_argument("query parameter", name.view()));
    }
    auto value = parse_argument<typename Optional::type>(*text);
    if (!value) return std::unexpected(detail::bad_argument("query parameter", name.view()));
    return Query<T, name>{*std::move(value)};
  }
};

template <>
struct FromRequest<Form> {
  static std::expected<Form, Response> get(Request& request);
};

template <class T>
struct FromRequest<State<T>> {
  static std::expected<State<T>, Response> get(Request& request) {
    return State<T>(*request.state<T>());
  }
  static void check(const RouteFacts& facts) {
    SENNIT_ASSERT(facts.state.get<T>() != nullptr &&
                      "a handler takes a State that the server was not given by provide()",
                  facts.pattern);
  }
};

}  // namespace sennit::http
