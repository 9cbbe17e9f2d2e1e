#include "sennit/http/detail/exchange.hpp"

#include <exception>

#include "sennit/base/log.hpp"
#include "sennit/http/detail/connection.hpp"
#include "sennit/http/response_stream.hpp"
#include "sennit/runtime/wait.hpp"

namespace sennit::http::detail {
namespace {

void log_exception(const Request& request, std::string_view what) {
  log::error("the handler of {} {} threw: {}", request.method_name(), request.path(), what);
}

// The one place where a handler's exception ends. False if there was one.
template <class F>
bool guarded(const Request& request, F&& function) noexcept {
  try {
    function();
    return true;
  } catch (const std::exception& exception) {
    log_exception(request, exception.what());
  } catch (...) {
    log_exception(request, "something that is no std::exception");
  }
  return false;
}

}  // namespace

Exchange::Exchange(runtime::Worker& worker)
    : FiberJob([](FiberJob& job) noexcept { static_cast<Exchange&>(job).call_on_fiber(); },
               [](FiberJob& job) noexcept {
                 auto& self = static_cast<Exchange&>(job);
                 self.fiber_activity_ = nullptr;
                 self.connection_->handled();
               }),
      Waiter(worker, [](runtime::Job& job) {
        auto& self = static_cast<Exchange&>(job);
        self.take_task_result();
      }) {}

void Exchange::run(Handler& handler, Connection& connection) {
  handler_ = &handler;
  connection_ = &connection;
  stage_ = Stage::handler;
  if (is_streamed) request.set_body_reader(&reader_.emplace(connection));
  if (!handler.is_coroutine()) return run_on_a_fiber();
  if (!guarded(request, [&] { task_.emplace(handler.start(request)); })) {
    response = problem(Status::internal_server_error);
    return connection.handled();
  }
  if (!task_->start(*this)) take_task_result();
}

void Exchange::run_on_a_fiber() {
  const Result<void> running = worker().run_on_fiber(*this);
  if (running) return;
  if (stage_ == Stage::handler) {
    response = response_for(running.error());
  } else {
    stream_failed = true;
  }
  connection_->handled();
}

void Exchange::cancel() {
  if (fiber_activity_ != nullptr) fiber_activity_->cancel();
  if (task_) task_->cancel();
  if (stream_task_) stream_task_->cancel();
}

void Exchange::call_on_fiber() noexcept {
  fiber_activity_ = worker().activity();
  if (stage_ == Stage::stream) return call_stream();
  if (!guarded(request, [this] { response = handler_->call(request); })) {
    response = problem(Status::internal_server_error);
  }
  const Transfer* const transfer = response.transfer();
  if (transfer == nullptr || transfer->stream == nullptr || !connection_->begin_stream()) return;
  writer_.emplace(*connection_);
  call_stream();
}

void Exchange::call_stream() noexcept {
  ResponseStream& stream = *response.transfer()->stream;
  const bool has_returned = guarded(request, [&] {
    const Result<void> result =
        stream.is_coroutine() ? runtime::wait(stream.start(*writer_)) : stream.call(*writer_);
    if (!result) stream_failed = true;
  });
  if (!has_returned) stream_failed = true;
}

void Exchange::take_task_result() noexcept {
  if (stage_ == Stage::stream) {
    const bool has_returned = guarded(request, [this] {
      if (!stream_task_->take()) stream_failed = true;
    });
    if (!has_returned) stream_failed = true;
    stream_task_.reset();
    return connection_->handled();
  }
  if (!guarded(request, [this] { response = task_->take(); })) {
    response = problem(Status::internal_server_error);
  }
  task_.reset();
  after_handler();
}

void Exchange::after_handler() {
  const Transfer* const transfer = response.transfer();
  if (transfer != nullptr && transfer->stream != nullptr && connection_->begin_stream()) {
    start_stream();
  } else {
    connection_->handled();
  }
}

void Exchange::start_stream() {
  stage_ = Stage::stream;
  writer_.emplace(*connection_);
  ResponseStream& stream = *response.transfer()->stream;
  if (!stream.is_coroutine()) return run_on_a_fiber();
  if (!guarded(request, [&] { stream_task_.emplace(stream.start(*writer_)); })) {
    stream_failed = true;
    return connection_->handled();
  }
  if (!stream_task_->start(*this)) take_task_result();
}

void Exchange::reset() {
  request.reset();
  response = Response();
  chunks.reset();
  body = h1::Body::none;
  body_bytes_left = body_bytes = 0;
  body_is_done = true;
  outcome = metrics::Outcome::cancelled;
  cancel_at = TimePoint::max();
  times_out = is_cancelled = is_abandoned = false;
  expects_continue = is_answered = sends_file = is_chunked = has_chunks = false;
  stream_has_begun = stream_failed = write_cancelled = false;
  stream_bytes_left.reset();
  if (body_failure != 0) {
    body_failure = 0;
    body_error = Error(Errc::closed);
  }
  if (is_streamed) {
    is_streamed = false;
    lent.release();
    lent_bytes = 0;
    piece.reset();
    reader_.reset();
    body_waited = {};
  }
  writer_.reset();
}

}  // namespace sennit::http::detail
