#pragma once
// The registry: every activity of a runtime, what it waits for and where it stands.
//
//   for (const ActivityInfo& one : list_activities(runtime).activities) ...
//   std::fputs(format_activities(list_activities(runtime)).c_str(), stderr);
//   end_activity(runtime, id, EndReason::killed);
//
// Nothing is kept for it while the program runs but what activities know anyway: a worker that is
// asked, by a post, looks through its own. So a worker that is stuck does not answer, and a list is
// a moment of each worker, not of all at once. To look for an id means to look through all.
//
// A fiber's trace is its stack; a coroutine's the chain of who awaits whom. With RuntimeOptions::
// dump_on_sigquit the list is printed when the process gets SIGQUIT (Ctrl-\).

#include <cstdint>
#include <string>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {

class Runtime;

enum class Traces : bool { without, with };

struct ActivityInfo {
  ActivityId id = 0;
  ActivityId parent = 0;  // 0: none. May have ended.
  unsigned worker = 0;
  ActivityState state = ActivityState::unused;
  std::string name;
  std::string waits_for;  // Empty if it does not wait.
  Duration age = {};
  Duration time_left = Duration::max();    // To its deadline; max: it has none.
  EndReason end_reason = EndReason::none;  // That it was asked to end for.
  std::vector<const void*> trace;          // Code addresses, innermost first.
};

struct ActivityList {
  std::vector<ActivityInfo> activities;
  std::vector<unsigned> silent_workers;  // Those that did not answer in time.
};

/// Those of the current worker.
[[nodiscard]] std::vector<ActivityInfo> list_activities_here(Traces traces = Traces::with);
/// Those of all workers. On a plain thread, which it blocks until all have answered or `patience`
/// is over; stops the program on a worker.
[[nodiscard]] ActivityList list_activities(Runtime& runtime, Traces traces = Traces::with,
                                           Duration patience = std::chrono::seconds(1));
/// The same on a worker, without a limit to patience.
[[nodiscard]] Task<ActivityList> gather_activities(Runtime& runtime, Traces traces = Traces::with);

/// For people: one line for each, and its trace in names below.
[[nodiscard]] std::string format_activities(const ActivityList& list);

/// Asks the activity with that id to end. Any thread; nothing happens if it has ended.
void end_activity(Runtime& runtime, ActivityId id, EndReason reason = EndReason::cancelled);

}  // namespace sennit::runtime
