#pragma once
// Middleware: a function around handlers. It sees the request before them and their response after,
// or answers itself and calls nobody.
//
//   server.use([](http::Request& request, http::Next next) -> Task<http::Response> {
//     http::Response response = co_await next(request);
//     if (auto set = response.headers().set("X-Served-By", "me"); !set) { ... }
//     co_return response;
//   });
//
// A plain function says `return wait(next(request));`. Both kinds mix in any order; a fiber is
// borrowed only where some element is a plain function. Several run in the order of use(): those of
// the server around those of a group around those of a route. What no route takes (404, 405, the
// automatic OPTIONS) passes those that it would have passed had the method been right, or else
// those of the server.
//
// What throws inside of `next` has become a response when it comes back: 500. A middleware that
// throws is answered with 500 itself.
//
// Thread safety: as handlers, middlewares are called by every worker at the same time.

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "sennit/http/handler.hpp"
#include "sennit/http/request.hpp"
#include "sennit/http/response.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::http {

namespace detail {
class Chain;
}

/// What comes after a middleware. A small value; call it at most once for each request.
class Next {
 public:
  Next(const detail::Chain& chain, std::size_t index) : chain_(&chain), index_(index) {}

  /// Awaitable; its result is a Response.
  class Call : runtime::FiberJob {
   public:
    static constexpr const char* waits_for = "the next handler";
    Call(const detail::Chain& chain, std::size_t index, Request& request);
    [[nodiscard]] bool ready();
    [[nodiscard]] bool start(runtime::Waiter& waiter);
    Response take();

   private:
    const detail::Chain& chain_;
    std::size_t index_;
    Request& request_;
    Response response_;
    std::optional<Task<Response>> task_;
    runtime::Waiter* waiter_ = nullptr;
    bool is_done_ = false;
  };
  [[nodiscard]] Call operator()(Request& request) const { return {*chain_, index_, request}; }

 private:
  const detail::Chain* chain_;
  std::size_t index_;
};

namespace detail {

class Middleware {
 public:
  virtual ~Middleware() = default;
  [[nodiscard]] virtual bool is_coroutine() const = 0;
  virtual Response call(Request& request, Next next) = 0;
  virtual Task<Response> start(Request& request, Next next) = 0;
};

/// Middlewares and the handler they are around, as one handler.
class Chain final : public Handler {
 public:
  /// Requires at least one middleware.
  Chain(std::vector<std::shared_ptr<Middleware>> middlewares, std::shared_ptr<Handler> last)
      : middlewares_(std::move(middlewares)), last_(std::move(last)) {}

  [[nodiscard]] bool is_coroutine() const override { return is_coroutine(0); }
  [[nodiscard]] bool streams_body() const override { return last_->streams_body(); }
  Response call(Request& request) override { return call(0, request); }
  Task<Response> start(Request& request) override { return start(0, request); }

  [[nodiscard]] bool is_coroutine(std::size_t index) const;
  /// Exceptions end here.
  Response call(std::size_t index, Request& request) const noexcept;
  Task<Response> start(std::size_t index, Request& request) const;
  static Response take(Task<Response>& task, const Request& request) noexcept;

 private:
  std::vector<std::shared_ptr<Middleware>> middlewares_;
  std::shared_ptr<Handler> last_;
};

template <class F>
class FunctionMiddleware final : public Middleware {
  using R = std::invoke_result_t<const F&, Request&, Next>;
  static constexpr bool is_task = runtime::is_task<R>;

 public:
  explicit FunctionMiddleware(F function) : function_(std::move(function)) {}
  [[nodiscard]] bool is_coroutine() const override { return is_task; }
  Response call([[maybe_unused]] Request& request, [[maybe_unused]] Next next) override {
    if constexpr (is_task) {
      SENNIT_ASSERT(false && "a coroutine middleware is started, not called");
    } else {
      return to_response(function_(request, next));
    }
  }
  Task<Response> start([[maybe_unused]] Request& request, [[maybe_unused]] Next next) override {
    if constexpr (std::same_as<R, Task<Response>>) {
      return function_(request, next);
    } else if constexpr (is_task) {
      return unwrap(function_(request, next));
    } else {
      SENNIT_ASSERT(false && "a plain middleware is called, not started");
    }
  }

 private:
  static Task<Response> unwrap(auto task) {
    auto result = co_await task;
    co_return to_response(std::move(result));
  }
  const F function_;
};

template <class F>
std::shared_ptr<Middleware> make_middleware(F&& function) {
  using Function = std::decay_t<F>;
  constexpr bool takes = [] {
    if constexpr (requires { typename ParametersOf<Function>::type; }) {
      return std::same_as<typename ParametersOf<Function>::type, Parameters<Request&, Next>>;
    } else {
      return false;
    }
  }();
  constexpr bool returns = returns_an_answer<Function, Request&, Next>();
  static_assert(takes && returns,
                "an http middleware must be callable as middleware(http::Request&, http::Next) and "
                "return http::Response, Result<http::Response> or a Task of one of the two");
  if constexpr (takes && returns) {
    return std::make_shared<FunctionMiddleware<Function>>(std::forward<F>(function));
  }
  return nullptr;
}

}  // namespace detail
}  // namespace sennit::http
