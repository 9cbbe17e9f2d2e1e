#include "sennit/runtime/activity.hpp"

#include "sennit/base/assert.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

const char* to_string(ActivityState state) {
  switch (state) {
    case ActivityState::unused:
      return "unused";
    case ActivityState::created:
      return "created";
    case ActivityState::running:
      return "running";
    case ActivityState::waiting:
      return "waiting";
    case ActivityState::done:
      return "done";
    case ActivityState::cancelled:
      return "cancelled";
    case ActivityState::timed_out:
      return "timed out";
    case ActivityState::killed:
      return "killed";
  }
  return "?";
}

Activity::DeadlineTimer::DeadlineTimer(Activity& a)
    : Timer([](Timer& timer) {
        static_cast<DeadlineTimer&>(timer).activity.cancel(EndReason::timed_out);
      }),
      activity(a) {}

Activity::Activity(Worker& worker) : worker_(worker) { worker.activities().push_back(*this); }

Activity::~Activity() {
  SENNIT_ASSERT(groups_.empty());
  unlink();
}

Activity* Activity::current() { return Worker::here().activity(); }

Activity& Activity::here() {
  Activity* const activity = current();
  SENNIT_ASSERT(activity != nullptr && "this needs a fiber or a coroutine to belong to");
  return *activity;
}

ActivityState Activity::state() const {
  return wait_ != nullptr && state_ == ActivityState::running ? ActivityState::waiting : state_;
}

void Activity::begin(const Activity* parent, ActivityState state, ActivityId id) {
  id_ = id != 0 ? id : worker_.next_activity_id();
  started_at_ = worker_.now();
  state_ = state;
  if (parent == nullptr) return;
  parent_ = parent->id_;
  deadline_ = parent->deadline_;
  context_ = parent->context_;
  if (parent->is_cancelled()) reason_ = parent->reason_;
}

void Activity::begin(Inheritance&& inheritance, ActivityState state) {
  id_ = inheritance.id;
  started_at_ = worker_.now();
  state_ = state;
  parent_ = inheritance.parent;
  deadline_ = inheritance.deadline;
  reason_ = inheritance.reason;
  context_ = std::move(inheritance.context);
}

Inheritance Activity::bequeath() const {
  Inheritance inheritance;
  inheritance.id = worker_.next_activity_id();
  inheritance.parent = id_;
  inheritance.deadline = deadline_;
  inheritance.context = context_;
  if (is_cancelled()) inheritance.reason = reason_;
  return inheritance;
}

void Activity::reset() {
  if (deadline_timer_ != nullptr) deadline_timer_.reset();
  while (!groups_.empty()) groups_.pop_front();  // They outlive us; nobody cancels them then.
  context_ = Context();
  parent_ = 0;
  name_ = {};
  deadline_ = Deadline::never();
  reason_ = EndReason::none;
  shields_ = 0;
  wait_ = nullptr;
  state_ = ActivityState::unused;
}

ActivityState Activity::finish() {
  const EndReason reason = reason_;
  reset();
  switch (reason) {
    case EndReason::none:
      return ActivityState::done;
    case EndReason::cancelled:
      return ActivityState::cancelled;
    case EndReason::timed_out:
      return ActivityState::timed_out;
    case EndReason::killed:
      return ActivityState::killed;
  }
  return ActivityState::done;
}

void BranchActivity::schedule(std::coroutine_handle<> coroutine) {
  starter_.set_coroutine(coroutine);
  worker().schedule(starter_);
}

void Activity::set_deadline(Deadline deadline) {
  if (deadline >= deadline_) return;
  deadline_ = deadline;
  if (deadline_timer_ == nullptr) deadline_timer_ = std::make_unique<DeadlineTimer>(*this);
  worker_.timers().arm(*deadline_timer_, deadline.instant());
}

void Activity::cancel(EndReason reason) {
  if (state_ == ActivityState::unused || reason <= reason_) return;
  reason_ = reason;
  if (is_cancelled()) deliver_cancel();
}

void Activity::leave_shield() {
  SENNIT_ASSERT(shields_ > 0);
  if (--shields_ == 0 && is_cancelled()) deliver_cancel();
}

void Activity::deliver_cancel() {
  for (ChildGroup& group : groups_) group.cancel_children(reason_);
  if (wait_ != nullptr && wait_->cancel != nullptr) wait_->cancel(awaitable_);
}

}  // namespace sennit::runtime
