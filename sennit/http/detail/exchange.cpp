#include "sennit/http/detail/exchange.hpp"

#include <exception>

#include "sennit/base/log.hpp"
#include "sennit/http/detail/connection.hpp"

namespace sennit::http::detail {
namespace {

Response failed(const Request& request, std::string_view what) {
  log::error("the handler of {} {} threw: {}", request.method_name(), request.path(), what);
  return problem(Status::internal_server_error);
}

// The one place where a handler's exception ends.
template <class F>
bool run_guarded(Exchange& exchange, F&& handler) noexcept {
  try {
    handler();
    return true;
  } catch (const std::exception& exception) {
    exchange.response = failed(exchange.request, exception.what());
  } catch (...) {
    exchange.response = failed(exchange.request, "something that is no std::exception");
  }
  return false;
}

}  // namespace

Exchange::Exchange(runtime::Worker& worker)
    : FiberJob([](FiberJob& job) noexcept { static_cast<Exchange&>(job).call_plain(); },
               [](FiberJob& job) noexcept {
                 auto& self = static_cast<Exchange&>(job);
                 self.connection_->handled();
               }),
      Waiter(worker, [](runtime::Job& job) {
        auto& self = static_cast<Exchange&>(job);
        self.take_task_result();
        self.connection_->handled();
      }) {}

void Exchange::run(Handler& handler, Connection& connection) {
  handler_ = &handler;
  connection_ = &connection;
  if (!handler.is_coroutine()) {
    if (const Result<void> started = worker().run_on_fiber(*this); !started) {
      response = response_for(started.error());
      connection.handled();
    }
    return;
  }
  if (!run_guarded(*this, [&] { task_.emplace(handler.start(request)); })) {
    return connection.handled();
  }
  if (task_->start(*this)) return;
  take_task_result();
  connection.handled();
}

void Exchange::call_plain() noexcept {
  run_guarded(*this, [this] { response = handler_->call(request); });
}

void Exchange::take_task_result() noexcept {
  run_guarded(*this, [this] { response = task_->take(); });
  task_.reset();
}

void Exchange::reset() {
  request.reset();
  response = Response();
  chunks.reset();
  body = h1::Body::none;
  body_bytes_left = 0;
}

}  // namespace sennit::http::detail
