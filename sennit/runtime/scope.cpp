#include "sennit/runtime/scope.hpp"

#include <algorithm>
#include <exception>

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

Scope::Scope(OnError on_error) : worker_(Worker::here()), on_error_(on_error) {
  if (Activity* const activity = worker_.activity(); activity != nullptr) {
    activity->add(*this);
    if (activity->is_cancelled()) end_reason_ = activity->end_reason();
  }
}

Scope::~Scope() {
  SENNIT_ASSERT(running_ == 0 && "join() a Scope before it ends", running_);
  const bool has_exception = failure_ != nullptr && failure_->exception != nullptr;
  SENNIT_ASSERT((!has_exception || std::uncaught_exceptions() > 0) &&
                "what was spawned threw: join() the Scope to catch it");
  if (is_linked()) unlink();
}

void Scope::begin(detail::Spawned& child, std::string_view name, ActivityId id) {
  SENNIT_ASSERT(Worker::current() == &worker_ && "a Scope belongs to the worker it was made on");
  child.work.begin(worker_.activity(), ActivityState::created, id);
  child.work.set_name(name);
  if (end_reason_ != EndReason::none) child.work.cancel(end_reason_);
  children_.push_back(child);
  ++running_;
}

Inheritance Scope::bequeath() const {
  SENNIT_ASSERT(Worker::current() == &worker_ && "a Scope belongs to the worker it was made on");
  const Activity* const parent = worker_.activity();
  Inheritance inheritance;
  if (parent != nullptr) {
    inheritance = parent->bequeath();
  } else {
    inheritance.id = worker_.next_activity_id();
  }
  inheritance.reason = std::max(inheritance.reason, end_reason_);
  return inheritance;
}

void Scope::begin_remote(detail::RemoteSpawn& remote) {
  remote_children_.push_back(remote);
  ++running_;
  remote.post();
}

void Scope::child_ended(std::unique_ptr<detail::Failure> failure) {
  if (failure != nullptr && on_error_ == OnError::keep_going && failure->is_joinable) {
    failure.reset();
  }
  if (failure != nullptr && failure_ == nullptr) {
    failure_ = std::move(failure);
    if (on_error_ == OnError::cancel_rest) cancel();
  }
  if (--running_ == 0 && joiner_ != nullptr) std::exchange(joiner_, nullptr)->wake();
}

void Scope::cancel_children(EndReason reason) {
  if (reason <= end_reason_) return;
  end_reason_ = reason;
  for (detail::Spawned& child : children_) child.work.cancel(reason);
  for (detail::RemoteSpawn& child : remote_children_) child.cancel(reason);
}

bool Scope::Join::start(Waiter& waiter) {
  SENNIT_ASSERT(scope_.joiner_ == nullptr && "one join at a time");
  scope_.joiner_ = &waiter;
  is_cancelled_ = false;
  return true;
}

void Scope::Join::cancel() {
  is_cancelled_ = true;
  scope_.cancel();
}

Result<void> Scope::Join::take() {
  if (scope_.failure_ != nullptr) {
    const std::unique_ptr<detail::Failure> first = std::move(scope_.failure_);
    if (first->exception) std::rethrow_exception(first->exception);
    return failure(*std::move(first->error));
  }
  if (is_cancelled_) return failure(Errc::cancelled, "join a scope");
  return {};
}

}  // namespace sennit::runtime
