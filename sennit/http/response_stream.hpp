#pragma once
// Responses whose body is made while it is sent.
//
//   return http::stream("text/plain", [](http::BodyWriter& out) -> Task<> {
//     for (int i = 0; i < 1'000'000; ++i) {
//       if (!co_await out.write("line\n")) co_return;    // The client is gone.
//     }
//   });
//
// The function runs after the handler has returned, as a handler does: plain ones on a fiber,
// coroutines in their frame. It may return Result<> or nothing. An error or an exception ends the
// connection without the body's end, so that the client can tell. It owns what it needs: nothing of
// the handler lives on, but the request does until the body has ended.
//
// HTTP/1.1 clients get chunks, or a Content-Length if the length is given; HTTP/1.0 clients the end
// of the connection. A HEAD calls nothing.

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/base/result.hpp"
#include "sennit/http/body.hpp"
#include "sennit/http/response.hpp"
#include "sennit/runtime/task.hpp"

namespace sennit::http {
namespace detail {

class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  [[nodiscard]] virtual bool is_coroutine() const = 0;
  virtual Result<void> call(BodyWriter& out) = 0;
  virtual Task<Result<void>> start(BodyWriter& out) = 0;
};

template <class F>
class FunctionStream final : public ResponseStream {
  using R = std::invoke_result_t<F&, BodyWriter&>;

 public:
  explicit FunctionStream(F function) : function_(std::move(function)) {}
  [[nodiscard]] bool is_coroutine() const override { return runtime::is_task<R>; }
  Result<void> call(BodyWriter& out) override {
    if constexpr (std::is_void_v<R>) {
      function_(out);
      return {};
    } else if constexpr (std::same_as<R, Result<void>>) {
      return function_(out);
    } else {
      SENNIT_ASSERT(false && "a coroutine is started, not called");
    }
  }
  Task<Result<void>> start(BodyWriter& out) override {
    if constexpr (std::same_as<R, Task<Result<void>>>) {
      return function_(out);
    } else if constexpr (std::same_as<R, Task<void>>) {
      return unwrap(function_(out));
    } else {
      SENNIT_ASSERT(false && "a plain function is called, not started");
    }
  }

 private:
  static Task<Result<void>> unwrap(Task<void> task) {
    co_await task;
    co_return Result<void>();
  }
  F function_;
};

template <class F>
concept StreamFunction = std::invocable<F&, BodyWriter&> && [] {
  using R = std::invoke_result_t<F&, BodyWriter&>;
  return std::is_void_v<R> || std::same_as<R, Result<void>> || std::same_as<R, Task<void>> ||
         std::same_as<R, Task<Result<void>>>;
}();

}  // namespace detail

/// 200 with a body that `function` writes; of `length` bytes if that is known.
template <class F>
  requires detail::StreamFunction<std::remove_cvref_t<F>>
[[nodiscard]] Response stream(std::string_view content_type, F&& function,
                              std::optional<std::uint64_t> length = {}) {
  using Function = std::remove_cvref_t<F>;
  Response response(Status::ok, content_type, {});
  response.set_stream(std::make_shared<detail::FunctionStream<Function>>(std::forward<F>(function)),
                      length);
  return response;
}

}  // namespace sennit::http
