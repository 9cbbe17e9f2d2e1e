#pragma once
// Handler: a user's function, stored in the one form that the server calls.
//
//   Response f(Request&);            a plain function: runs on a fiber, may wait(...)
//   Result<Response> f(Request&);    an error becomes a problem document
//   Task<Response> f(Request&);      a coroutine; also Task<Result<Response>>
//
// What its return type says is fixed when it is registered. Handlers are called by every worker at
// the same time: what they capture must bear that.

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/http/request.hpp"
#include "sennit/http/response.hpp"
#include "sennit/runtime/task.hpp"

namespace sennit::http {

/// The problem document for an error: 404 for not_found, 400 for what the client got wrong, 503 for
/// limits, 504 for time, and so on; 500 for the rest, which is logged and not told.
[[nodiscard]] Response response_for(const Error& error);

namespace detail {

class Handler {
 public:
  virtual ~Handler() = default;
  [[nodiscard]] virtual bool is_coroutine() const = 0;
  /// Of a plain function.
  virtual Response call(Request& request) = 0;
  /// Of a coroutine.
  virtual Task<Response> start(Request& request) = 0;
};

template <class T>
Response to_response(T&& result) {
  if constexpr (std::same_as<std::remove_cvref_t<T>, Response>) {
    return std::forward<T>(result);
  } else {
    return result ? *std::forward<T>(result) : response_for(result.error());
  }
}

template <class R>
inline constexpr bool is_plain_result =
    std::same_as<R, Response> || std::same_as<R, Result<Response>>;
template <class R>
inline constexpr bool is_task_result =
    std::same_as<R, Task<Response>> || std::same_as<R, Task<Result<Response>>>;

template <class F>
class FunctionHandler final : public Handler {
  using R = std::invoke_result_t<const F&, Request&>;

 public:
  explicit FunctionHandler(F function) : function_(std::move(function)) {}
  [[nodiscard]] bool is_coroutine() const override { return is_task_result<R>; }
  Response call(Request& request) override {
    if constexpr (is_plain_result<R>) {
      return to_response(function_(request));
    } else {
      SENNIT_ASSERT(false && "a coroutine handler is started, not called");
    }
  }
  Task<Response> start(Request& request) override {
    if constexpr (std::same_as<R, Task<Response>>) {
      return function_(request);
    } else if constexpr (is_task_result<R>) {
      return unwrap(function_(request));
    } else {
      SENNIT_ASSERT(false && "a plain handler is called, not started");
    }
  }

 private:
  static Task<Response> unwrap(Task<Result<Response>> task) {
    Result<Response> result = co_await task;
    co_return to_response(std::move(result));
  }
  const F function_;
};

template <class F>
std::shared_ptr<Handler> make_handler(F&& function) {
  using Function = std::remove_cvref_t<F>;
  constexpr bool is_callable = std::invocable<const Function&, Request&>;
  static_assert(is_callable, "an http handler must be callable as handler(http::Request&)");
  if constexpr (is_callable) {
    using R = std::invoke_result_t<const Function&, Request&>;
    constexpr bool is_known = is_plain_result<R> || is_task_result<R>;
    static_assert(is_known,
                  "an http handler must return http::Response, Result<http::Response>, or a Task "
                  "of one of the two");
    if constexpr (is_known) {
      return std::make_shared<FunctionHandler<Function>>(std::forward<F>(function));
    }
  }
  return nullptr;
}

}  // namespace detail
}  // namespace sennit::http
