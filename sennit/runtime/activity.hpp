#pragma once
// Activity: one line of work, be it a fiber or a coroutine with all it awaits.
//
//   Activity& self = Activity::here();
//   self.set_name("refill");  self.set_deadline(Deadline::after(1s, clock));  other.cancel();
//
// What runs on a fiber is an activity, what is spawned is one, and so is a Task that several are
// awaited with. A Task that is awaited with `co_await` or `wait` belongs to the activity of who
// awaits it. Each has an id that is unique in the process, a name, a state, a deadline, and knows
// what it waits for. It costs no lock, no atomic and, for what runs on a fiber, no allocation.
//
// Cancelling asks; nothing is destroyed while it waits. Rules:
// 1. cancel() ends the wait in progress if that can end early (its awaitable has a cancel()): it
//    gives Errc::cancelled, or its result if that came first.
// 2. From then on each wait that can end early does so at once, in the same way.
// 3. shield(x) (shield.hpp) is exempt: a wait under it takes its time, and the request is
//    delivered afterwards. Only killing reaches through a shield.
// 4. Whatever the activity has spawned and not joined is cancelled too (scope.hpp).
// 5. A deadline that passes cancels in the same way, and the state says timed_out.
//
// Thread safety: none; an activity belongs to its worker. From elsewhere use its id (registry.hpp)
// or a Joinable (joinable.hpp).

#include <cstdint>
#include <memory>
#include <string_view>

#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/time.hpp"
#include "sennit/runtime/context.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

/// Unique in the process; 0 is none. The upper 16 bits number the worker that gave it out.
using ActivityId = std::uint64_t;

enum class ActivityState : unsigned char {
  unused,   // Kept for the next one.
  created,  // Has not run yet.
  running,  // Or will in this or the next turn.
  waiting,
  done,
  cancelled,  // This and the two below: has ended, and was asked to in this way before it had.
  timed_out,
  killed,
};
[[nodiscard]] const char* to_string(ActivityState state);

/// Why an activity shall end. A later one replaces an earlier one in the list.
enum class EndReason : unsigned char { none, cancelled, timed_out, killed };

/// What the shells tell of an awaitable.
struct WaitKind {
  const char* waits_for;
  void (*cancel)(void* awaitable);  // Null if it cannot end early.
};
template <class A>
[[nodiscard]] constexpr WaitKind make_wait_kind() {
  WaitKind kind{"something", nullptr};
  if constexpr (requires { A::waits_for; }) kind.waits_for = A::waits_for;
  if constexpr (CancellableAwaitable<A>) {
    kind.cancel = [](void* awaitable) { static_cast<A*>(awaitable)->cancel(); };
  }
  return kind;
}
template <class A>
inline constexpr WaitKind wait_kind = make_wait_kind<A>();

/// What ends when the activity that made it is asked to: a Scope.
class ChildGroup : public ListHook<ChildGroup> {
 public:
  virtual void cancel_children(EndReason reason) = 0;

 protected:
  ~ChildGroup() = default;
};

/// What an activity starts with, if it did not start beside the one it inherits from.
struct Inheritance {
  ActivityId id = 0;  // Its own.
  ActivityId parent = 0;
  Deadline deadline;
  EndReason reason = EndReason::none;
  Context context;
};

class Activity : public ListHook<Activity> {
 public:
  explicit Activity(Worker& worker);
  ~Activity();  // Off the worker only if that has stopped.

  /// The one that runs; null in a job or a completion. Stops the program off the workers.
  [[nodiscard]] static Activity* current();
  /// The same where there must be one.
  [[nodiscard]] static Activity& here();

  [[nodiscard]] Worker& worker() const { return worker_; }
  [[nodiscard]] ActivityId id() const { return id_; }
  [[nodiscard]] ActivityId parent() const { return parent_; }
  [[nodiscard]] TimePoint started_at() const { return started_at_; }
  [[nodiscard]] ActivityState state() const;
  [[nodiscard]] std::string_view name() const { return name_; }
  /// The text must live as long as the activity: a literal.
  void set_name(std::string_view name) { name_ = name; }
  /// What the wait in progress is for; null while there is none.
  [[nodiscard]] const char* waits_for() const {
    return wait_ == nullptr ? nullptr : wait_->waits_for;
  }

  [[nodiscard]] Context& context() { return context_; }
  [[nodiscard]] Deadline deadline() const { return deadline_; }
  /// Ends it as timed out at that instant; never later than the deadline that it has already.
  void set_deadline(Deadline deadline);
  /// The same without ending it then: somebody else will.
  void narrow_deadline(Deadline deadline) {
    if (deadline < deadline_) deadline_ = deadline;
  }

  /// See the rules above. Does nothing once it has ended or for a reason no stronger than before.
  void cancel(EndReason reason = EndReason::cancelled);
  /// It shall end: waits that can end early do so at once.
  [[nodiscard]] bool is_cancelled() const {
    return reason_ != EndReason::none && (shields_ == 0 || reason_ == EndReason::killed);
  }
  /// Why it was asked to end, shielded or not.
  [[nodiscard]] EndReason end_reason() const { return reason_; }

  // --- For the shells, the worker and those who start activities --------------------------

  /// Around start() and the wake-up. What is awaited inside, by a Task that belongs to us, takes
  /// the place: the innermost wait is what cancelling ends.
  void begin_wait(void* awaitable, const WaitKind& kind, const Waiter& waiter) {
    awaitable_ = awaitable;
    wait_ = &kind;
    waiter_ = &waiter;
  }
  /// Who waits innermost, a fiber or a coroutine; null while there is no wait.
  [[nodiscard]] const Waiter* waiter() const { return wait_ == nullptr ? nullptr : waiter_; }
  void end_wait() { wait_ = nullptr; }
  void enter_shield() { ++shields_; }
  void leave_shield();

  /// Gives it an id, unless it has one, and what it inherits from `parent`, which may be null.
  void begin(const Activity* parent, ActivityState state, ActivityId id = 0);
  void begin(Inheritance&& inheritance, ActivityState state);
  [[nodiscard]] Inheritance bequeath() const;
  void set_running() { state_ = ActivityState::running; }
  /// Returns the state it ended in.
  ActivityState finish();
  /// The group is linked to it until it is unlinked or the activity ends.
  void add(ChildGroup& group) { groups_.push_back(group); }

 private:
  struct DeadlineTimer : Timer {
    explicit DeadlineTimer(Activity& activity);
    Activity& activity;
  };
  void deliver_cancel();

  void reset();

  // What each wait touches comes first, to be in one cache line.
  ActivityState state_ = ActivityState::unused;
  EndReason reason_ = EndReason::none;
  unsigned shields_ = 0;
  void* awaitable_ = nullptr;
  const WaitKind* wait_ = nullptr;
  const Waiter* waiter_ = nullptr;
  Worker& worker_;
  ActivityId id_ = 0;
  ActivityId parent_ = 0;
  std::string_view name_;
  Deadline deadline_;
  TimePoint started_at_;
  std::unique_ptr<DeadlineTimer> deadline_timer_;  // Few ever need one.
  IntrusiveList<ChildGroup> groups_;
  Context context_;
};

/// That of a Task which is awaited beside others; from the worker's pool.
class BranchActivity : public Activity {
 public:
  explicit BranchActivity(Worker& worker) : Activity(worker), starter_(worker, this, nullptr) {}
  /// Runs the coroutine as this activity in the worker's next turn.
  void schedule(std::coroutine_handle<> coroutine);

 private:
  Waiter starter_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Activity;
using runtime::ActivityId;
}  // namespace sennit
