#pragma once
// Generator: drives an HTTP/1.1 server with a fixed number of connections, and measures. Either
// each of them asks again as soon as it is answered (a closed loop), or requests leave when a
// schedule says, whatever has become of those before (an open loop).
//
//   SENNIT_TRY(auto generator, load::Generator::start(options));
//   while (!generator->wait_for(std::chrono::seconds(1))) show(generator->progress());
//   std::fputs(load::to_text(generator->finish(), true).c_str(), stdout);
//
// It runs on workers of its own. Whatever the server does, or does not, it ends when its time is
// over: what is in flight then is dropped, and not counted as an error.
//
// Thread safety: stop() and progress() from any thread that is not a worker; the rest from one.

#include <cstdint>
#include <memory>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/load/options.hpp"
#include "sennit/load/report.hpp"

namespace sennit::load {

/// How far a run is. Of the stream that it is about, not of those beside.
struct Progress {
  Duration elapsed = Duration::zero();
  Duration left = Duration::zero();
  std::uint64_t requests = 0;
  std::uint64_t bytes_read = 0;
  ErrorCounts errors;
  bool is_warming_up = false;  // Nothing counts yet.
  double rate = 0;             // What is asked for now; 0 in a closed loop.
  /// Of all so far; response times in an open loop, service times in a closed one.
  metrics::Histogram latency_ns = metrics::Histogram(Report::interval_options);
};

class Generator {
 public:
  /// Starts the workers and the load. Raises the process's limit of open files if need be.
  ///
  /// Errors: invalid_argument, not_found (host), limit_reached (open files), unsupported (backend).
  /// A server that cannot be reached is none: that is counted.
  [[nodiscard]] static Result<std::unique_ptr<Generator>> start(const Options& options);
  /// Whether start() would take these options: its errors, without starting anything.
  [[nodiscard]] static Result<void> check(const Options& options);
  ~Generator();  // Ends the run if it has not.
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  /// Waits until the run has ended, at most for `timeout`. True if it has.
  bool wait_for(Duration timeout);
  /// Ends the run before its time, soon.
  void stop();
  [[nodiscard]] Progress progress() const;

  /// Waits until the run has ended. Called once, last.
  [[nodiscard]] Report finish();

 private:
  class Run;
  explicit Generator(std::unique_ptr<Run> run);
  std::unique_ptr<Run> run_;
};

}  // namespace sennit::load
