#include "sennit/load/generator.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "sennit/load/detail/driver.hpp"
#include "sennit/load/detail/plan.hpp"
#include "sennit/runtime/runtime.hpp"

namespace sennit::load {

namespace {

/// One kind of load: its connections on every worker.
struct Stream {
  Stream(const Options& o, detail::Plan p) : options(o), plan(std::move(p)) {}
  const Options& options;
  const detail::Plan plan;
  std::deque<detail::Driver> drivers;
};

/// What a stream beside takes from the one it is beside.
Options beside(const Options& main, const Options& options) {
  Options made = options;
  made.duration = main.duration;
  made.warm_up = main.warm_up;
  made.workers = std::min(main.workers, std::max(options.connections, 1U));
  made.clock = main.clock;
  made.seed = main.seed + 1;
  made.beside.clear();
  return made;
}

}  // namespace

class Generator::Run {
 public:
  /// The first of `options` is the stream that it is about.
  Run(std::vector<Options> options, std::vector<detail::Plan> plans,
      std::unique_ptr<runtime::Runtime> runtime)
      : options_(std::move(options)),
        clock_(options_.front().clock == nullptr ? real_clock_ : *options_.front().clock),
        runtime_(std::move(runtime)),
        machine_(MachineContext::of_this_machine(clock_)),
        started_at_(clock_.now()) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      Stream& stream = streams_.emplace_back(options_[i], std::move(plans[i]));
      for (unsigned w = 0; w < stream.plan.workers; ++w) {
        const std::uint32_t share = stream.plan.connections / stream.plan.workers +
                                    (w < stream.plan.connections % stream.plan.workers ? 1 : 0);
        stream.drivers.emplace_back(runtime_->worker(w), w, stream.plan, share,
                                    [this] { driver_ended(); });
        ++driver_count_;
      }
    }
    for_each_driver(
        [](detail::Driver& driver) { driver.worker().post([&driver] { driver.start(); }); });
  }
  ~Run() {
    stop();
    wait_for(Duration::max());
    runtime_->stop();  // Before the drivers, which its workers may still know.
  }

  bool wait_for(Duration timeout) {
    std::unique_lock lock(mutex_);
    const auto is_over = [this] { return ended_count_ == driver_count_; };
    if (timeout != Duration::max()) return all_ended_.wait_for(lock, timeout, is_over);
    all_ended_.wait(lock, is_over);
    return true;
  }
  void stop() {
    if (wait_for(Duration::zero())) return;  // Nobody may be there to take the jobs.
    for_each_driver(
        [](detail::Driver& driver) { driver.worker().post([&driver] { driver.stop(); }); });
  }

  [[nodiscard]] Progress progress() const {
    Progress progress;
    const Stream& main = streams_.front();
    progress.elapsed = clock_.now() - started_at_;
    progress.left = std::max(main.plan.duration - progress.elapsed, Duration::zero());
    progress.is_warming_up = progress.elapsed < main.plan.warm_up;
    if (main.plan.schedule) progress.rate = main.plan.schedule->rate_at(progress.elapsed);
    for (const detail::Driver& driver : main.drivers) {
      progress.requests += driver.requests();
      progress.bytes_read += driver.bytes_read();
      driver.add_errors_to(progress.errors);
      driver.add_latencies_to(progress.latency_ns);
    }
    return progress;
  }

  Report finish() {
    wait_for(Duration::max());
    const std::string backend(runtime_->worker(0).backend().name());
    runtime_->stop();
    Report report = report_of(streams_.front(), backend);
    for (std::size_t i = 1; i < streams_.size(); ++i) {
      report.beside.push_back(report_of(streams_[i], backend));
    }
    return report;
  }

 private:
  Report report_of(const Stream& stream, const std::string& backend) const {
    Report report;
    report.url = stream.options.url.text();
    report.connections = stream.plan.connections;
    report.workers = stream.plan.workers;
    report.pipeline = stream.plan.pipeline;
    report.backend = backend;
    report.machine = machine_;
    for (const detail::Driver& driver : stream.drivers) driver.add_to(report);
    if (stream.plan.schedule) {
      // Of what was measured: the whole less the warm-up.
      const Duration end = stream.plan.warm_up + report.duration;
      const auto seconds = [](Duration time) {
        return std::chrono::duration<double>(time).count();
      };
      const double due =
          stream.plan.schedule->mean_rate(end) * seconds(end) -
          stream.plan.schedule->mean_rate(stream.plan.warm_up) * seconds(stream.plan.warm_up);
      const bool is_measured = report.duration > Duration::zero();
      report.rate = is_measured ? due / seconds(report.duration)
                                : stream.plan.schedule->rate_at(Duration::zero());
    }
    report.judge(stream.plan.lag_max);
    return report;
  }

  template <class F>
  void for_each_driver(F function) {
    for (Stream& stream : streams_) {
      for (detail::Driver& driver : stream.drivers) function(driver);
    }
  }

  void driver_ended() {
    const std::lock_guard lock(mutex_);
    ++ended_count_;
    all_ended_.notify_all();
  }

  const std::vector<Options> options_;
  RealClock real_clock_;
  const Clock& clock_;
  std::unique_ptr<runtime::Runtime> runtime_;
  const MachineContext machine_;
  const TimePoint started_at_;
  std::deque<Stream> streams_;
  std::size_t driver_count_ = 0;

  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::size_t ended_count_ = 0;  // Guarded by mutex_.
};

namespace {

struct Prepared {
  std::vector<Options> streams;
  std::vector<detail::Plan> plans;
};

Result<Prepared> prepare(const Options& options) {
  Prepared prepared;
  prepared.streams.push_back(options);
  for (const Options& other : options.beside) prepared.streams.push_back(beside(options, other));
  std::uint64_t connections = 0;
  for (const Options& stream : prepared.streams) {
    SENNIT_TRY(detail::Plan plan, detail::make_plan(stream));
    prepared.plans.push_back(std::move(plan));
    connections += stream.connections;
  }
  if (auto allowed = detail::allow_connections(connections); !allowed) {
    return failure(std::move(allowed).error());
  }
  return prepared;
}

}  // namespace

Result<void> Generator::check(const Options& options) {
  auto prepared = prepare(options);
  if (!prepared) return failure(std::move(prepared).error());
  return {};
}

Result<std::unique_ptr<Generator>> Generator::start(const Options& options) {
  SENNIT_TRY(Prepared prepared, prepare(options));
  runtime::RuntimeOptions runtime_options;
  runtime_options.workers = options.workers;
  runtime_options.backend = options.backend;
  runtime_options.pin = options.pin;
  runtime_options.clock = options.clock;
  SENNIT_TRY(auto runtime, runtime::Runtime::start(runtime_options));
  auto run = std::make_unique<Run>(std::move(prepared.streams), std::move(prepared.plans),
                                   std::move(runtime));
  return std::unique_ptr<Generator>(new Generator(std::move(run)));
}

Generator::Generator(std::unique_ptr<Run> run) : run_(std::move(run)) {}
Generator::~Generator() = default;

bool Generator::wait_for(Duration timeout) { return run_->wait_for(timeout); }
void Generator::stop() { run_->stop(); }
Progress Generator::progress() const { return run_->progress(); }
Report Generator::finish() { return run_->finish(); }

}  // namespace sennit::load
