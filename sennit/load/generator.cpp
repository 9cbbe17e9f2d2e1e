#include "sennit/load/generator.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "sennit/load/detail/driver.hpp"
#include "sennit/load/detail/plan.hpp"
#include "sennit/runtime/runtime.hpp"

namespace sennit::load {

class Generator::Run {
 public:
  Run(const Options& options, detail::Plan plan, std::unique_ptr<runtime::Runtime> runtime)
      : options_(options),
        plan_(std::move(plan)),
        clock_(options.clock == nullptr ? real_clock_ : *options.clock),
        runtime_(std::move(runtime)),
        started_at_(clock_.now()) {
    for (unsigned i = 0; i < options_.workers; ++i) {
      const std::uint32_t share = options_.connections / options_.workers +
                                  (i < options_.connections % options_.workers ? 1 : 0);
      drivers_.emplace_back(runtime_->worker(i), plan_, share, [this] { driver_ended(); });
    }
    for (detail::Driver& driver : drivers_) {
      driver.worker().post([&driver] { driver.start(); });
    }
  }
  ~Run() {
    stop();
    wait_for(Duration::max());
    runtime_->stop();  // Before the drivers, which its workers may still know.
  }

  bool wait_for(Duration timeout) {
    std::unique_lock lock(mutex_);
    const auto is_over = [this] { return ended_count_ == drivers_.size(); };
    if (timeout != Duration::max()) return all_ended_.wait_for(lock, timeout, is_over);
    all_ended_.wait(lock, is_over);
    return true;
  }
  void stop() {
    if (wait_for(Duration::zero())) return;  // Nobody may be there to take the jobs.
    for (detail::Driver& driver : drivers_) {
      driver.worker().post([&driver] { driver.stop(); });
    }
  }

  [[nodiscard]] Progress progress() const {
    Progress progress;
    progress.elapsed = clock_.now() - started_at_;
    progress.left = std::max(plan_.duration - progress.elapsed, Duration::zero());
    for (const detail::Driver& driver : drivers_) {
      progress.requests += driver.requests();
      progress.bytes_read += driver.bytes_read();
      driver.add_errors_to(progress.errors);
    }
    return progress;
  }

  Report finish() {
    wait_for(Duration::max());
    Report report;
    report.url = options_.url.text();
    report.connections = options_.connections;
    report.workers = options_.workers;
    report.backend = runtime_->worker(0).backend().name();
    runtime_->stop();
    for (const detail::Driver& driver : drivers_) driver.add_to(report);
    return report;
  }

 private:
  void driver_ended() {
    const std::lock_guard lock(mutex_);
    ++ended_count_;
    all_ended_.notify_all();
  }

  const Options options_;
  const detail::Plan plan_;
  RealClock real_clock_;
  const Clock& clock_;
  std::unique_ptr<runtime::Runtime> runtime_;
  const TimePoint started_at_;
  std::deque<detail::Driver> drivers_;

  std::mutex mutex_;
  std::condition_variable all_ended_;
  std::size_t ended_count_ = 0;  // Guarded by mutex_.
};

Result<std::unique_ptr<Generator>> Generator::start(const Options& options) {
  SENNIT_TRY(detail::Plan plan, detail::make_plan(options));
  if (auto allowed = detail::allow_connections(options.connections); !allowed) {
    return failure(std::move(allowed).error());
  }
  runtime::RuntimeOptions runtime_options;
  runtime_options.workers = options.workers;
  runtime_options.backend = options.backend;
  runtime_options.pin = options.pin;
  runtime_options.clock = options.clock;
  SENNIT_TRY(auto runtime, runtime::Runtime::start(runtime_options));
  auto run = std::make_unique<Run>(options, std::move(plan), std::move(runtime));
  return std::unique_ptr<Generator>(new Generator(std::move(run)));
}

Generator::Generator(std::unique_ptr<Run> run) : run_(std::move(run)) {}
Generator::~Generator() = default;

bool Generator::wait_for(Duration timeout) { return run_->wait_for(timeout); }
void Generator::stop() { run_->stop(); }
Progress Generator::progress() const { return run_->progress(); }
Report Generator::finish() { return run_->finish(); }

}  // namespace sennit::load
