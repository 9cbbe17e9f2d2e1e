#pragma once
// Driver: the connections of one worker for one stream, and what they have measured.
//
// Open loop: request number k of the stream belongs to worker k modulo the number of workers, so
// that nobody has to be asked. The driver knows when its next one is due. A connection that could
// send offers itself; when a request is due, the connection that has waited longest sends it. Where
// none is free the request waits, and keeps the instant it was meant for.
//
// Everything runs on the worker, but for the constructor and progress; add_to() once it has ended.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/random.hpp"
#include "sennit/load/detail/connection.hpp"
#include "sennit/load/detail/plan.hpp"
#include "sennit/load/report.hpp"
#include "sennit/metrics/cell.hpp"
#include "sennit/metrics/histogram.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::load::detail {

class Driver {
 public:
  /// `index` is that of the worker among those of the stream. `ended` is called on the worker,
  /// once, when nothing is left to wait for.
  Driver(runtime::Worker& worker, unsigned index, const Plan& plan, std::uint32_t connections,
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
  /// A copy of the response times (of an open loop) or latencies so far, for a live view.
  void add_latencies_to(metrics::Histogram& total) const { live_ns_.add_to(total); }

  /// Adds what was measured. Requires that `ended` was called and the worker has stopped.
  void add_to(Report& report) const;

  // --- For the connections ----------------------------------------------------------------

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] runtime::io::Backend& backend() { return worker_.backend(); }
  [[nodiscard]] runtime::TimerWheel& timers() { return worker_.timers(); }
  [[nodiscard]] TimePoint now() const { return worker_.clock().now(); }
  [[nodiscard]] bool is_stopping() const { return is_stopping_; }
  [[nodiscard]] Random& random() { return random_; }

  /// Whether a request may leave now; `intended_at` is when it was meant to.
  [[nodiscard]] bool take_due(TimePoint now, TimePoint& intended_at);
  /// Puts a connection into the list of those that could send.
  void offer(Connection& connection);
  void render(const PlannedRequest& request, Buffer& out, bool is_last);

  void count_bytes(std::size_t bytes) {
    if (is_measuring_) bytes_read_.add(bytes);
  }
  void count_response(TimePoint intended_at, TimePoint sent_at, TimePoint now, int status);
  void count_error(ErrorKind kind, int os_error, const char* reason, TimePoint intended_at);
  /// How many connect at once is limited until all have been started, lest a listener's queue
  /// overflows: the kernel would try again after a second, and that would be measured.
  void connecting_begins() { ++connecting_count_; }
  void connecting_ends();
  void connection_ended();

 private:
  static constexpr std::uint32_t connecting_max = 128;
  static constexpr Duration sample_interval = std::chrono::milliseconds(100);
  static constexpr int samples_per_interval = 10;

  struct Tick : runtime::Timer {
    using Call = void (Driver::*)();
    Tick(Driver& d, Call c);
    Driver& driver;
    const Call call;
  };
  struct FirstError {
    ErrorKind kind;
    int os_error;
    const char* reason;
  };

  void start_connections();
  void measure();
  void sample();
  void end_interval();
  void release();
  void go_to_next_due();
  void count_lag(TimePoint now, TimePoint intended_at);
  [[nodiscard]] std::string describe(const FirstError& error) const;

  runtime::Worker& worker_;
  const Plan& plan_;
  const unsigned index_;
  const std::function<void()> ended_;
  Random random_;
  std::deque<Connection> connections_;
  IntrusiveList<Connection> free_;  // Could send; who has waited longest is first.
  std::size_t started_count_ = 0;
  std::size_t ended_count_ = 0;
  std::uint32_t connecting_count_ = 0;
  bool is_starting_ = false;
  bool is_stopping_ = false;
  bool is_measuring_ = false;

  TimePoint started_at_;
  TimePoint measured_from_ = TimePoint::max();
  TimePoint ended_at_;
  TimePoint sampled_at_;
  std::uint64_t sampled_requests_ = 0;
  Tick sample_timer_, measure_timer_, end_timer_, due_timer_;

  std::uint64_t due_count_ =
      0;                   // Of the stream's requests, how many of ours have been due and sent.
  TimePoint next_due_at_;  // When the next one is.
  bool waits_for_connection_ = false;  // What is due next has already looked for one in vain.
  std::uint64_t sequence_ = 0;
  Buffer scratch_;

  metrics::CounterCell requests_;
  metrics::CounterCell bytes_read_;
  std::array<metrics::CounterCell, error_kind_count> errors_;
  std::optional<FirstError> first_error_;
  metrics::Histogram service_ns_;
  metrics::Histogram response_ns_;
  metrics::Histogram lag_ns_;
  metrics::Histogram rates_;
  metrics::HistogramCell live_ns_;
  metrics::Histogram interval_ns_;
  std::vector<Report::Interval> intervals_;
  std::uint64_t interval_errors_ = 0;
  Duration cpu_before_ = Duration::zero();
  Duration cpu_used_ = Duration::zero();
};

}  // namespace sennit::load::detail
