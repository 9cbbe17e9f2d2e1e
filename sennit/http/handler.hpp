#pragma once
// Handler: a user's function, stored in the one form that the server calls.
//
// What it returns says how it runs: a plain function on a fiber, where it may wait(...); one that
// returns a Task as a coroutine. It may return, or return a Task of:
//
//   Response              Result<T>, where an error becomes a problem document
//   std::string           text/plain, and what else has a ToResponse: Json<T> (json.hpp)
//
// What it takes says what it needs, in any order and number; see arguments.hpp for more of them:
//
//   Request&              the request; const too
//   BodyReader&           the body as a stream; the handler is called before it has arrived
//   anything that has a FromRequest: Path, Query, Json, Form, State
//
// Both are fixed when it is registered, and a signature that does not fit is one error of the
// compiler that says so. Handlers are called by every worker at the same time: what they capture
// must bear that.

#include <concepts>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/base/result.hpp"
#include "sennit/http/body.hpp"
#include "sennit/http/request.hpp"
#include "sennit/http/response.hpp"
#include "sennit/http/router.hpp"
#include "sennit/http/state.hpp"
#include "sennit/runtime/task.hpp"

namespace sennit::http {

/// The problem document for an error: 404 for not_found, 400 for what the client got wrong, 503 for
/// limits, 504 for time, and so on; 500 for the rest, which is logged and not told.
[[nodiscard]] Response response_for(const Error& error);

/// What the server can tell of a route when it starts, for arguments that can be checked then.
struct RouteFacts {
  std::string_view pattern;
  const StateMap& state;
};

/// Specialise it to make T an argument of handlers: a static function
/// `std::expected<T, Response> get(Request&)`, whose failure is the answer, and if there is
/// something to check when the server starts, `void check(const RouteFacts&)`.
template <class T>
struct FromRequest;

/// Specialise it to make T a result of handlers: a static function `Response make(T&&)`.
template <class T>
struct ToResponse;

template <>
struct ToResponse<Response> {
  static Response make(Response&& response) { return std::move(response); }
};
template <>
struct ToResponse<std::string> {
  static Response make(std::string&& body) { return text(std::move(body)); }
};

namespace detail {

/// What a request gets that no route takes.
[[nodiscard]] Response unmatched_response(const Router::Match& match);

class Handler {
 public:
  virtual ~Handler() = default;
  [[nodiscard]] virtual bool is_coroutine() const = 0;
  /// It takes a BodyReader.
  [[nodiscard]] virtual bool streams_body() const { return false; }
  /// Of a plain function.
  virtual Response call(Request& request) = 0;
  /// Of a coroutine.
  virtual Task<Response> start(Request& request) = 0;
  /// Stops the program if the route lacks what its arguments need.
  virtual void check(const RouteFacts&) const {}
};

template <class R>
concept HandlerValue = requires(R&& value) {
  { ToResponse<R>::make(std::move(value)) } -> std::same_as<Response>;
};
template <class R>
inline constexpr bool is_answer = HandlerValue<R>;
template <class T>
  requires(!std::is_void_v<T>)
inline constexpr bool is_answer<Result<T>> = HandlerValue<T>;

template <class R>
struct Unwrapped {
  using type = R;
};
template <class R>
struct Unwrapped<Task<R>> {
  using type = R;
};

template <class T>
Response to_response(T value) {
  return ToResponse<T>::make(std::move(value));
}
template <class T>
Response to_response(Result<T> result) {
  return result ? ToResponse<T>::make(*std::move(result)) : response_for(result.error());
}

// What a function takes, from its type.
template <class... A>
struct Parameters {
  template <template <class...> class To>
  using into = To<A...>;
};
template <class F>
struct ParametersOf;
template <class R, class... A>
struct ParametersOf<R (*)(A...)> : std::type_identity<Parameters<A...>> {};
template <class R, class... A>
struct ParametersOf<R (*)(A...) noexcept> : std::type_identity<Parameters<A...>> {};
template <class C, class R, class... A>
struct ParametersOf<R (C::*)(A...) const> : std::type_identity<Parameters<A...>> {};
template <class C, class R, class... A>
struct ParametersOf<R (C::*)(A...) const noexcept> : std::type_identity<Parameters<A...>> {};
template <class F>
  requires requires { &F::operator(); }
struct ParametersOf<F> : ParametersOf<decltype(&F::operator())> {};

template <class A>
inline constexpr bool is_request = std::same_as<A, Request&> || std::same_as<A, const Request&>;

template <class A>
concept Argument =
    is_request<A> || std::same_as<A, BodyReader&> ||
    ((!std::is_lvalue_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>) &&
     requires(Request& request) {
       {
         FromRequest<std::remove_cvref_t<A>>::get(request)
       } -> std::same_as<std::expected<std::remove_cvref_t<A>, Response>>;
     });

/// One argument, taken from the request and kept for as long as the call.
template <class A>
class Held {
 public:
  explicit Held(Request& request) : value_(FromRequest<std::remove_cvref_t<A>>::get(request)) {}
  [[nodiscard]] Response* refusal() { return value_ ? nullptr : &value_.error(); }
  std::remove_cvref_t<A>&& get() { return *std::move(value_); }

 private:
  std::expected<std::remove_cvref_t<A>, Response> value_;
};
template <class A>
  requires is_request<A>
class Held<A> {
 public:
  explicit Held(Request& request) : request_(request) {}
  [[nodiscard]] Response* refusal() { return nullptr; }
  Request& get() { return request_; }

 private:
  Request& request_;
};
template <>
class Held<BodyReader&> {
 public:
  explicit Held(Request& request) : reader_(*request.body_reader()) {}
  [[nodiscard]] Response* refusal() { return nullptr; }
  BodyReader& get() { return reader_; }

 private:
  BodyReader& reader_;
};

template <class F, class... A>
class FunctionHandler final : public Handler {
  using R = std::invoke_result_t<const F&, A...>;
  static constexpr bool is_task = runtime::is_task<R>;

 public:
  explicit FunctionHandler(F function) : function_(std::move(function)) {}
  [[nodiscard]] bool is_coroutine() const override { return is_task; }
  [[nodiscard]] bool streams_body() const override { return (std::same_as<A, BodyReader&> || ...); }
  Response call([[maybe_unused]] Request& request) override {
    if constexpr (is_task) {
      SENNIT_ASSERT(false && "a coroutine handler is started, not called");
    } else if constexpr ((is_request<A> && ...)) {
      return to_response(function_(static_cast<A>(request)...));
    } else {
      std::tuple<Held<A>...> held{Held<A>(request)...};
      if (Response* refusal = refusal_of(held)) return std::move(*refusal);
      return std::apply(
          [this](auto&... each) { return to_response(function_(static_cast<A>(each.get())...)); },
          held);
    }
  }
  Task<Response> start([[maybe_unused]] Request& request) override {
    if constexpr (!is_task) {
      SENNIT_ASSERT(false && "a plain handler is called, not started");
    } else if constexpr (std::same_as<R, Task<Response>> && (is_request<A> && ...)) {
      return function_(static_cast<A>(request)...);
    } else {
      return run(function_, request);
    }
  }
  void check([[maybe_unused]] const RouteFacts& facts) const override {
    (check_one<std::remove_cvref_t<A>>(facts), ...);
  }

 private:
  static Response* refusal_of(auto& held) {
    Response* refusal = nullptr;
    std::apply([&](auto&... each) { ((refusal = each.refusal()) || ...); }, held);
    return refusal;
  }
  // The arguments live in this frame, as long as the function's own.
  static Task<Response> run(const F& function, Request& request) {
    std::tuple<Held<A>...> held{Held<A>(request)...};
    if (Response* refusal = refusal_of(held)) co_return std::move(*refusal);
    R task =
        std::apply([&](auto&... each) { return function(static_cast<A>(each.get())...); }, held);
    auto result = co_await task;
    co_return to_response(std::move(result));
  }
  template <class T>
  static void check_one([[maybe_unused]] const RouteFacts& facts) {
    if constexpr (requires { FromRequest<T>::check(facts); }) FromRequest<T>::check(facts);
  }
  const F function_;
};

template <class F, class... A>
consteval bool returns_an_answer() {
  if constexpr (std::invocable<const F&, A...>) {
    return is_answer<typename Unwrapped<std::invoke_result_t<const F&, A...>>::type>;
  } else {
    return false;
  }
}

template <class F>
struct HandlerMaker {
  template <class... A>
  struct With {
    static constexpr bool takes = (Argument<A> && ...);
    static constexpr bool returns = returns_an_answer<F, A...>();
    static std::shared_ptr<Handler> make(F function) {
      return std::make_shared<FunctionHandler<F, A...>>(std::move(function));
    }
  };
};

template <class F>
std::shared_ptr<Handler> make_handler(F&& function) {
  using Function = std::decay_t<F>;
  constexpr bool is_plain = requires { typename ParametersOf<Function>::type; };
  static_assert(is_plain,
                "an http handler must be a function or an object whose one operator() is const and "
                "no template, such as a lambda that is not mutable and has no `auto` parameters");
  if constexpr (is_plain) {
    using Maker =
        typename ParametersOf<Function>::type::template into<HandlerMaker<Function>::template With>;
    static_assert(Maker::takes,
                  "each parameter of an http handler must be http::Request&, http::BodyReader&, or "
                  "a value that http::FromRequest knows how to get: http::Path, http::Query, "
                  "http::Json, http::Form, http::State");
    static_assert(!Maker::takes || Maker::returns,
                  "an http handler must return http::Response, std::string, http::Json or another "
                  "type that http::ToResponse knows, or a Result or a Task of one");
    if constexpr (Maker::takes && Maker::returns) {
      return Maker::make(std::forward<F>(function));
    }
  }
  return nullptr;
}

}  // namespace detail
}  // namespace sennit::http
