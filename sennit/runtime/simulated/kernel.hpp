#pragma once
// Kernel: time, chance, scheduling, network and files of a simulation, all from one seed.
//
// It runs on one thread. A step is one of these, the first that applies:
//   1. what is due by now happens: a segment arrives, a disk answers, a pool's job ends
//   2. one of the actors (workers) that have something to do, drawn by the seed, has a turn, which
//      costs it a little virtual time, so that a loop that polls gets somewhere
//   3. time jumps to the next instant at which something is due
// Everything random is drawn from one generator in the order of the steps: the same seed and the
// same program give the same steps. trace_hash() tells two runs apart.
//
// Most tests use it through Simulation (simulation.hpp).
//
// Thread safety: none. Everything that uses it must be destroyed before it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/base/time.hpp"

namespace sennit::runtime::simulated {

class Files;
class Network;

class Kernel {
 public:
  struct Options {
    std::uint64_t seed = 1;
    Duration turn_cost_min = std::chrono::nanoseconds(100);
    Duration turn_cost_max = std::chrono::microseconds(2);
    /// A simulation that gets this far stops the program: it would go on for ever.
    Duration time_max = std::chrono::hours(24 * 365);
    std::size_t descriptors_max = 1 << 20;
    std::size_t trace_lines_max = 0;  // How many of the last lines trace() keeps.
  };

  /// Whatever has turns: a worker.
  class Actor {
   public:
    virtual ~Actor() = default;
    /// It would do something now.
    [[nodiscard]] virtual bool has_work() const = 0;
    /// When it will have something to do by itself; TimePoint::max() if never.
    [[nodiscard]] virtual TimePoint next_expiry() const = 0;
    virtual void run_turn() = 0;
  };

  explicit Kernel(const Options& options);
  ~Kernel();  // Requires that every actor was removed.
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] TimePoint now() const { return clock_.now(); }
  [[nodiscard]] std::uint64_t seed() const { return options_.seed; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Random& random() { return random_; }
  /// Uniform between the two, both included.
  [[nodiscard]] Duration random_duration(Duration low, Duration high);
  /// True with this probability.
  [[nodiscard]] bool happens(double probability);
  [[nodiscard]] Network& network() { return *network_; }
  [[nodiscard]] Files& files() { return *files_; }

  void add(Actor& actor);
  void remove(Actor& actor);
  /// Calls `event` at `instant`, between turns, when there is no current worker. Events of the same
  /// instant happen in the order in which they were asked for.
  void at(TimePoint instant, std::function<void()> event);
  void after(Duration delay, std::function<void()> event) { at(now() + delay, std::move(event)); }

  /// False if nothing is ready and nothing will ever be due.
  [[nodiscard]] bool step();
  /// Steps until it is true. Stops the program, with the seed, when nothing is left to happen
  /// before: somebody waits for what never comes.
  void run_until(const std::function<bool()>& is_true);
  /// Steps through everything that is due within this time.
  void run_for(Duration time);

  /// Adds to the trace.
  void note(std::string_view what, std::uint64_t first = 0, std::uint64_t second = 0);
  [[nodiscard]] std::uint64_t trace_hash() const { return trace_hash_; }
  /// The last lines, the oldest first.
  [[nodiscard]] const std::vector<std::string>& trace() const { return trace_; }
  [[nodiscard]] std::uint64_t step_count() const { return step_count_; }

 private:
  struct Event {
    TimePoint instant;
    std::uint64_t sequence;
    std::function<void()> call;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.instant != b.instant ? a.instant > b.instant : a.sequence > b.sequence;
    }
  };

  bool run_due_event();
  bool run_some_actor();
  [[nodiscard]] TimePoint next_instant() const;
  void set_time(TimePoint instant);

  const Options options_;
  ManualClock clock_;
  Random random_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  std::uint64_t sequence_ = 0;
  std::vector<Actor*> actors_;
  std::vector<Actor*> runnable_;
  std::uint64_t step_count_ = 0;
  std::uint64_t trace_hash_ = 0xcbf29ce484222325;
  std::vector<std::string> trace_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Files> files_;
};

}  // namespace sennit::runtime::simulated
