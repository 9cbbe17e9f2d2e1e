#include "sennit/http/middleware.hpp"

#include <exception>

#include "sennit/base/log.hpp"

namespace sennit::http {
namespace {

template <class F>
Response guarded_response(const Request& request, F&& function) noexcept {
  try {
    return function();
  } catch (const std::exception& exception) {
    log::error("the handler of {} {} threw: {}", request.method_name(), request.path(),
               exception.what());
  } catch (...) {
    log::error("the handler of {} {} threw something that is no std::exception",
               request.method_name(), request.path());
  }
  return problem(Status::internal_server_error);
}

}  // namespace

Next::Call::Call(const detail::Chain& chain, std::size_t index, Request& request)
    : FiberJob(
          [](FiberJob& job) noexcept {
            auto& self = static_cast<Call&>(job);
            self.response_ = self.chain_.call(self.index_, self.request_);
          },
          [](FiberJob& job) noexcept {
            auto& self = static_cast<Call&>(job);
            self.is_done_ = true;
            if (self.waiter_ != nullptr) self.waiter_->wake();
          }),
      chain_(chain),
      index_(index),
      request_(request) {}

bool Next::Call::ready() {
  const runtime::Worker& worker = runtime::Worker::here();
  if (chain_.is_coroutine(index_) || !worker.is_on_fiber()) return false;
  response_ = chain_.call(index_, request_);  // Ours is as good a stack as another.
  return true;
}

bool Next::Call::start(runtime::Waiter& waiter) {
  if (chain_.is_coroutine(index_)) {
    try {
      task_.emplace(chain_.start(index_, request_));
    } catch (...) {  // Not even its frame was made.
      response_ = problem(Status::internal_server_error);
      return false;
    }
    return task_->start(waiter);
  }
  runtime::Worker& worker = runtime::Worker::here();
  if (const Result<void> started = worker.run_on_fiber(*this, worker.activity()); !started) {
    response_ = response_for(started.error());
    return false;
  }
  if (is_done_) return false;
  waiter_ = &waiter;
  return true;
}

Response Next::Call::take() {
  return task_ ? detail::Chain::take(*task_, request_) : std::move(response_);
}

namespace detail {

bool Chain::is_coroutine(std::size_t index) const {
  return index < middlewares_.size() ? middlewares_[index]->is_coroutine() : last_->is_coroutine();
}

Response Chain::call(std::size_t index, Request& request) const noexcept {
  return guarded_response(request, [&] {
    return index < middlewares_.size() ? middlewares_[index]->call(request, Next(*this, index + 1))
                                       : last_->call(request);
  });
}

Task<Response> Chain::start(std::size_t index, Request& request) const {
  return index < middlewares_.size() ? middlewares_[index]->start(request, Next(*this, index + 1))
                                     : last_->start(request);
}

Response Chain::take(Task<Response>& task, const Request& request) noexcept {
  return guarded_response(request, [&task] { return task.take(); });
}

}  // namespace detail
}  // namespace sennit::http
