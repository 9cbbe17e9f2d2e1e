#include "sennit/perftest/measure.hpp"

#include <algorithm>

namespace sennit::perftest {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr Duration batch_time = microseconds(200);
constexpr std::uint64_t batch_calls_max = std::uint64_t{1} << 40;
constexpr std::uint64_t allocation_calls_max = 1000;
constexpr Duration batch_time_least = microseconds(5);

// What one of the threads or fibers does, one phase after another.
class Caller {
 public:
  /// Batches share their time with the `sharing` fibers of a worker.
  Caller(Body& body, Thread thread, Crew& crew, Timeline& timeline, int sharing)
      : body_(body),
        thread_(thread),
        crew_(crew),
        timeline_(timeline),
        batch_time_(std::max(batch_time / sharing, batch_time_least)) {}

  /// Calls until `end`, at least once; returns how many calls were made.
  std::uint64_t run_until(TimePoint end) {
    std::uint64_t calls = 0;
    TimePoint now = timeline_.now();
    do {
      if (over()) break;
      calls += run(batch_calls_);
      const TimePoint after = timeline_.now();
      adapt(after - now, end - after);
      now = crew_.pause() ? timeline_.now() : after;
    } while (now < end);
    return calls;
  }

  /// Calls each time it is due, every `interval` from `begin` to `end`; late calls are made up for.
  std::uint64_t run_paced(TimePoint begin, TimePoint end, double interval_ns,
                          metrics::Histogram* latency_ns) {
    std::uint64_t calls = 0;
    for (std::uint64_t i = 0; !over(); ++i) {
      const TimePoint due =
          begin + nanoseconds(static_cast<std::int64_t>(interval_ns * static_cast<double>(i)));
      if (due >= end || timeline_.now() >= end) break;
      timeline_.sleep_until(due);
      calls += run(1);
      if (latency_ns != nullptr) latency_ns->record((timeline_.now() - due).count());
    }
    if (!over())
      timeline_.sleep_until(end);  // The last call's share of the time is an interval too.
    return calls;
  }

  /// Times each call until `end`, less what reading the clock takes.
  void time_each_until(TimePoint end, metrics::Histogram& latency_ns) {
    const Duration clock_cost = clock_reading();
    TimePoint now = timeline_.now();
    while (now < end && !over()) {
      run(1);
      const TimePoint after = timeline_.now();
      latency_ns.record(std::max(after - now - clock_cost, Duration::zero()).count());
      now = crew_.pause() ? timeline_.now() : after;
    }
  }

  std::uint64_t run(std::uint64_t calls) {
    Batch batch{thread_, calls, body_.aborted()};
    body_.run(batch);
    return calls - batch.left;
  }

  [[nodiscard]] bool over() const { return body_.aborted() || body_.failed(); }

 private:
  // Towards batches that take their time, and none that runs far past the end.
  void adapt(Duration took, Duration left) {
    if (took < batch_time_ / 2 && batch_calls_ < batch_calls_max) {
      batch_calls_ *= 2;
    } else if (took > batch_time_ * 2) {
      batch_calls_ = std::max<std::uint64_t>(batch_calls_ / 2, 1);
    }
    if (left < took) batch_calls_ = std::max<std::uint64_t>(batch_calls_ / 2, 1);
  }

  // The median of reading the clock twice.
  [[nodiscard]] Duration clock_reading() const {
    std::vector<Duration> readings(101);
    for (Duration& reading : readings) {
      const TimePoint before = timeline_.now();
      reading = timeline_.now() - before;
    }
    std::ranges::nth_element(readings, readings.begin() + 50);
    return readings[50];
  }

  Body& body_;
  const Thread thread_;
  Crew& crew_;
  Timeline& timeline_;
  const Duration batch_time_;
  std::uint64_t batch_calls_ = 1;
};

// The phases, over all callers.
class Measuring {
 public:
  Measuring(Body& body, const Settings& settings, Crew& crew, Timeline& timeline)
      : settings_(settings), crew_(crew), timeline_(timeline) {
    const int sharing = std::max(settings.fibers, 1);
    const int count = settings.threads * sharing;
    for (int i = 0; i < count; ++i) {
      callers_.emplace_back(body, Thread{i, count}, crew, timeline, sharing);
    }
    if (settings.latency) result_.latency_ns.emplace();
  }

  Measurement run() {
    if (settings_.hz == 0) warm_up();
    measure_repetitions();
    if (settings_.latency && settings_.hz == 0) measure_latency();
    if (allocations_are_counted()) measure_allocations();
    result_.aborted = over();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool over() const { return callers_.front().over(); }

  void warm_up() {
    const TimePoint begin = timeline_.now();
    const TimePoint end = begin + milliseconds(settings_.warm_up_ms);
    std::atomic<std::uint64_t> calls = 0;
    on_every_caller([&](Caller& caller) { calls += caller.run_until(end); });
    if (!over()) return;
    result_.calls = calls;  // There will be no others.
    result_.time = timeline_.now() - begin;
  }

  void measure_repetitions() {
    Result<Counters> counters =
        settings_.counters ? Counters::open() : failure(Errc::cancelled, "count: not asked to");
    if (!counters) result_.counters_unavailable = counters.error().to_string();
    const Duration whole = milliseconds(settings_.time_ms);
    CounterValues sum{.instructions = 0, .cycles = 0, .cache_misses = 0};
    for (int i = 0; i < settings_.repetitions && !over() && result_.time < whole; ++i) {
      if (counters) counters->start();
      measure_once(whole / settings_.repetitions);
      if (!counters) continue;
      counters->stop();
      add(sum, counters->values());
    }
    if (counters && result_.calls > 0) {
      const auto calls = static_cast<double>(result_.calls);
      for (std::optional<double>* const value :
           {&sum.instructions, &sum.cycles, &sum.cache_misses}) {
        if (*value) **value /= calls;
      }
      result_.counters_per_call = sum;
    }
  }

  void measure_once(Duration length) {
    std::atomic<std::uint64_t> calls = 0;
    std::vector<metrics::Histogram> latencies;
    if (settings_.latency && settings_.hz > 0) latencies.resize(callers_.size());
    const TimePoint begin = timeline_.now();
    const TimePoint end = begin + length;
    on_every_caller([&](Caller& caller) {
      if (settings_.hz == 0) {
        calls += caller.run_until(end);
        return;
      }
      const auto index = static_cast<std::size_t>(&caller - callers_.data());
      const double interval_ns = 1e9 / settings_.hz * static_cast<double>(callers_.size());
      calls += caller.run_paced(begin, end, interval_ns,
                                latencies.empty() ? nullptr : &latencies[index]);
    });
    const Duration took = timeline_.now() - begin;
    result_.calls += calls;
    result_.time += took;
    if (calls > 0) {
      result_.ns_per_call.push_back(static_cast<double>(took.count()) /
                                    static_cast<double>(calls.load()));
    }
    for (const metrics::Histogram& latency : latencies) result_.latency_ns->merge(latency);
  }

  void measure_latency() {
    std::vector<metrics::Histogram> latencies(callers_.size());
    const TimePoint end = timeline_.now() + milliseconds(std::max(settings_.time_ms / 3, 1));
    on_every_caller([&](Caller& caller) {
      caller.time_each_until(end, latencies[static_cast<std::size_t>(&caller - callers_.data())]);
    });
    for (const metrics::Histogram& latency : latencies) result_.latency_ns->merge(latency);
  }

  // As many calls as take a few milliseconds, by one of the callers.
  void measure_allocations() {
    if (over() || result_.calls == 0) return;
    const double ns_per_call =
        static_cast<double>(result_.time.count()) / static_cast<double>(result_.calls);
    const double calls = std::clamp(5e6 / std::max(ns_per_call, 1.0), 1.0,
                                    static_cast<double>(allocation_calls_max));
    crew_.run(1, [&](int) {
      start_counting_allocations();
      result_.allocation_calls = callers_.front().run(static_cast<std::uint64_t>(calls));
      result_.allocations = stop_counting_allocations();
    });
  }

  static void add(CounterValues& sum, const CounterValues& values) {
    const auto add_one = [](std::optional<double>& total, const std::optional<double>& value) {
      total = total && value ? std::optional(*total + *value) : std::nullopt;
    };
    add_one(sum.instructions, values.instructions);
    add_one(sum.cycles, values.cycles);
    add_one(sum.cache_misses, values.cache_misses);
  }

  template <class Do>
  void on_every_caller(Do work) {
    crew_.run(static_cast<int>(callers_.size()),
              [&](int index) { work(callers_[static_cast<std::size_t>(index)]); });
  }

  const Settings& settings_;
  Crew& crew_;
  Timeline& timeline_;
  std::vector<Caller> callers_;
  Measurement result_;
};

}  // namespace

double Measurement::hz() const {
  return time == Duration::zero()
             ? 0
             : static_cast<double>(calls) * 1e9 / static_cast<double>(time.count());
}

Measurement measure(Body& body, const Settings& settings, Crew& crew, Timeline& timeline) {
  return Measuring(body, settings, crew, timeline).run();
}

Measurement measure(Body& body, const Settings& settings, Timeline& timeline) {
  ThreadCrew crew;
  return measure(body, settings, crew, timeline);
}

}  // namespace sennit::perftest
