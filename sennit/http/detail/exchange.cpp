#include "sennit/http/detail/exchange.hpp"

#include <exception>

#include "sennit/base/log.hpp"
#include "sennit/http/detail/connection.hpp"

namespace sennit::http::detail {
namespace {

// The one place where a handler's exception ends. Call it in a catch block.
Response response_for_exception(const Request& request) {
  std::string what = "an exception of unknown type";
  try {
    throw;
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
  }
  log::error("the handler of {} {} threw: {}", request.method_name(), request.path(), what);
  return problem(Status::internal_server_error);
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
  try {
    task_.emplace(handler.start(request));
  } catch (...) {
    response = response_for_exception(request);
    return connection.handled();
  }
  if (task_->start(*this)) return;
  take_task_result();
  connection.handled();
}

void Exchange::call_plain() noexcept {
  try {
    response = handler_->call(request);
  } catch (...) {
    response = response_for_exception(request);
  }
}

void Exchange::take_task_result() noexcept {
  try {
    response = task_->take();
  } catch (...) {
    response = response_for_exception(request);
  }
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
