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

Activity::Activity(Worker& worker) : deadline_timer_(*this), starter_(worker, this, nullptr) {
  worker.activities().push_back(*this);
}

Activity::~Activity() { unlink(); }

Activity* Activity::current() { return Worker::here().activity(); }

Activity& Activity::here() {
  Activity* const activity = current();
  SENNIT_ASSERT(activity != nullptr && "this needs a fiber or a coroutine to belong to");
  return *activity;
}

ActivityState Activity::state() const {
  return wait_ != nullptr && state_ == ActivityState::running ? ActivityState::waiting : state_;
}

void Activity::begin(const Activity* parent, ActivityState state) {
  id_ = worker().next_activity_id();
  started_at_ = worker().now();
  state_ = state;
  reason_ = EndReason::none;
  shields_ = 0;
  parent_ = 0;
  name_ = {};
  deadline_ = Deadline::never();
  if (parent == nullptr) return;
  parent_ = parent->id_;
  deadline_ = parent->deadline_;
  if (parent->is_cancelled()) reason_ = parent->reason_;
}

ActivityState Activity::finish() {
  deadline_timer_.disarm();
  wait_ = nullptr;
  state_ = ActivityState::unused;
  switch (reason_) {
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

void Activity::schedule(std::coroutine_handle<> coroutine) {
  starter_.coroutine_ = coroutine;
  worker().schedule(starter_);
}

void Activity::set_deadline(Deadline deadline) {
  if (deadline >= deadline_) return;
  deadline_ = deadline;
  worker().timers().arm(deadline_timer_, deadline.instant());
}

void Activity::cancel(EndReason reason) {
  if (state_ == ActivityState::unused || reason <= reason_) return;
  reason_ = reason;
  if (is_cancelled()) deliver_cancel();
}

void Activity::leave_shield() {
  SENNIT_ASSERT(shields_ > 0);
  --shields_;
}

void Activity::deliver_cancel() {
  if (wait_ != nullptr && wait_->cancel != nullptr) wait_->cancel(awaitable_);
}

}  // namespace sennit::runtime
