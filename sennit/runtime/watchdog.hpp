#pragma once
// Watchdog: names the fiber or task that holds its worker for too long, with its stack.
//
//   Watchdog watchdog(*runtime, {.threshold = 100ms});
//
// Whatever computes or blocks on a worker holds up every connection of it; such work belongs to
// offload() or compute(). A thread looks at each worker a few times per threshold. One that is
// still in the same turn after the threshold is asked by a signal (SIGURG, which is ignored by
// default) what it runs and where; each turn is reported once.
//
// A worker pays one store a turn for it, watched or not. The signal's handler allocates nothing and
// takes no lock; naming the addresses happens on the watchdog's thread. A system call that a
// held-up worker is in may end with EINTR. The simulated backend is not watched: nothing takes time
// there.
//
// Thread safety: made and destroyed by the thread that owns the runtime, before Runtime::stop().
// One runtime, one watchdog at a time.

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sennit/base/time.hpp"
#include "sennit/runtime/activity.hpp"

namespace sennit::runtime {

class Runtime;

struct HeldWorker {
  unsigned worker = 0;
  ActivityId activity = 0;         // 0: a job or a completion, such as parsing of requests.
  std::string name;                // Of the activity; may be empty.
  Duration held{};                 // So far; at least the threshold.
  std::vector<std::string> stack;  // Innermost first; empty if the worker did not answer.
};
/// In several lines, for a log.
[[nodiscard]] std::string to_string(const HeldWorker& held);

struct WatchdogOptions {
  Duration threshold = std::chrono::seconds(1);
  /// Called on the watchdog's thread. Empty: a warning in the log.
  std::function<void(const HeldWorker&)> report;
};

/// When a worker's turn is to be reported; by its number, 0 while it waits. A function of what it
/// was told.
class TurnWatch {
 public:
  explicit TurnWatch(Duration threshold) : threshold_(threshold) {}
  /// How long the turn has lasted if it is to be reported now, else zero.
  [[nodiscard]] Duration observe(std::uint64_t turn, TimePoint now);

 private:
  Duration threshold_;
  std::uint64_t turn_ = 0;
  TimePoint since_;
  bool is_reported_ = false;
};

class Watchdog {
 public:
  Watchdog(Runtime& runtime, WatchdogOptions options);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  void ask(unsigned worker, Duration held);

  Runtime& runtime_;
  const WatchdogOptions options_;
  std::vector<TurnWatch> turns_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::Watchdog;
}
