#pragma once
// Driver: the connections of one worker, and what they have measured.
//
// Everything runs on the worker, but for the constructor and progress; report() once it has ended.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "sennit/load/detail/connection.hpp"
#include "sennit/load/detail/plan.hpp"
#include "sennit/load/report.hpp"
#include "sennit/metrics/cell.hpp"
#include "sennit/metrics/histogram.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::load::detail {

class Driver {
 public:
  /// `ended` is called on the worker, once, when nothing is left to wait for.
  Driver(runtime::Worker& worker, const Plan& plan, std::uint32_t connections,
         std::function<void()> ended);
  ~Driver();

  /// Ends by itself after the plan's duration.
  void start();
  void stop();

  // --- Any thread -------------------------------------------------------------------------

  [[nodiscard]] runtime::Worker& worker() const { return worker_; }
  [[nodiscard]] std::uint64_t requests() const { return requests_.value(); }
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_.value(); }
  void add_errors_to(ErrorCounts& total) const;

  /// Adds what was measured. Requires that `ended` was called and the worker has stopped.
  void add_to(Report& report) const;

  // --- For the connections ----------------------------------------------------------------

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] runtime::io::Backend& backend() { return worker_.backend(); }
  [[nodiscard]] runtime::TimerWheel& timers() { return worker_.timers(); }
  [[nodiscard]] TimePoint now() const { return worker_.clock().now(); }
  [[nodiscard]] bool is_stopping() const { return is_stopping_; }

  void count_bytes(std::size_t bytes) { bytes_read_.add(bytes); }
  void count_response(Duration latency, int status);
  void count_error(ErrorKind kind, int os_error, const char* reason);
  /// How many connect at once is limited until all have been started, lest a listener's queue
  /// overflows: the kernel would try again after a second, and that would be measured.
  void connecting_begins() { ++connecting_count_; }
  void connecting_ends();
  void connection_ended();

 private:
  static constexpr std::uint32_t connecting_max = 128;
  static constexpr Duration sample_interval = std::chrono::milliseconds(100);

  struct SampleTimer : runtime::Timer {
    explicit SampleTimer(Driver& d);
    Driver& driver;
  };
  struct EndTimer : runtime::Timer {
    explicit EndTimer(Driver& d);
    Driver& driver;
  };
  struct FirstError {
    ErrorKind kind;
    int os_error;
    const char* reason;
  };

  void start_connections();
  void sample();
  [[nodiscard]] std::string describe(const FirstError& error) const;

  runtime::Worker& worker_;
  const Plan& plan_;
  const std::function<void()> ended_;
  std::deque<Connection> connections_;
  std::size_t started_count_ = 0;
  std::size_t ended_count_ = 0;
  std::uint32_t connecting_count_ = 0;
  bool is_starting_ = false;
  bool is_stopping_ = false;

  TimePoint started_at_;
  TimePoint ended_at_;
  TimePoint sampled_at_;
  std::uint64_t sampled_requests_ = 0;
  SampleTimer sample_timer_;
  EndTimer end_timer_;

  metrics::CounterCell requests_;
  metrics::CounterCell bytes_read_;
  std::array<metrics::CounterCell, error_kind_count> errors_;
  std::optional<FirstError> first_error_;
  metrics::Histogram latency_ns_;
  metrics::Histogram rates_;
};

}  // namespace sennit::load::detail
