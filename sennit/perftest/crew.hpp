#pragma once
// Who calls a body at once, and by what clock: threads, or fibers (fibers.hpp).
//
// Thread safety: as each says.

#include <functional>
#include <memory>

#include "sennit/base/time.hpp"

namespace sennit::perftest {

/// A clock that can also be waited for, by whoever calls the body.
class Timeline : public Clock {
 public:
  virtual void sleep_until(TimePoint instant) = 0;
};

/// For threads. Thread safety: any thread.
class RealTimeline final : public Timeline {
 public:
  [[nodiscard]] TimePoint now() const override { return clock_.now(); }
  [[nodiscard]] WallTime wall_now() const override { return clock_.wall_now(); }
  void sleep_until(TimePoint instant) override;

 private:
  RealClock clock_;
};

class Crew {
 public:
  using Work = std::function<void(int index)>;
  virtual ~Crew() = default;

  /// Calls work(0) to work(count - 1) at once, and returns when each has returned.
  virtual void run(int count, const Work& work) = 0;
  /// Called within `work` between two batches of calls, to let the others go on. Returns whether
  /// that may have taken time.
  virtual bool pause() { return false; }
};

/// One thread each; one alone is the calling thread.
class ThreadCrew final : public Crew {
 public:
  void run(int count, const Work& work) override;
};

/// A crew and the timeline its work waits by. Anybody may ask the timeline for the time.
struct Stage {
  std::unique_ptr<Crew> crew;
  std::unique_ptr<Timeline> timeline;
};
/// What fibers.hpp brings, with so many workers, among which the fibers are dealt out.
using MakeFiberStage = Stage (*)(int workers);

namespace detail {
/// For fibers.hpp: from here on tests may ask for fibers. Defined beside Perf.
bool use_fibers(MakeFiberStage make);
}  // namespace detail

}  // namespace sennit::perftest
