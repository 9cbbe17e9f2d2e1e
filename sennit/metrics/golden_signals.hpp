#pragma once
// Golden signals: latency, traffic, errors and saturation of each operation of a service, under the
// same names whether the operation is an HTTP route, an RPC method or a job.
//
//   metrics::GoldenSignals signals(registry, {.prefix = "http_server", .operation = "route"});
//   metrics::GoldenCells cells = signals.cells("/users/{id}", worker_index);  // Once, and kept.
//   cells.begin();                                                            // Each request.
//   cells.end(latency, metrics::Outcome::ok);
//
// shows, with `http_server` and `route` as above:
//
//   http_server_requests_total{route}           traffic: calls begun
//   http_server_request_seconds{route,result}   latency of calls ended; result is ok or error, as
//                                               a failure that comes at once is no quick success
//   http_server_errors_total{route,class}       calls that ended badly, by Outcome
//   http_server_in_flight{route}                saturation: calls begun and not ended
//   http_server_in_flight_limit                 the most that are admitted; absent unless set
//
// A call costs two counter cells, a histogram's record and a gauge on the worker's own cache lines.
// The series of a class of errors, and the memory of a histogram (36 KiB for each worker with the
// default settings), are taken with the first call that ends so.
//
// Operations must be names from the program (a route's pattern, a method), not from the peer (a
// path). If they are not, the family's limit folds them (family.hpp). Where names are refused, see
// registry.hpp.
//
// Thread safety: GoldenSignals from any thread. GoldenCells have one writer, their worker; a call
// ends on the worker it began on. Both live at most as long as the registry, the cells at most as
// long as the signals.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "sennit/base/time.hpp"
#include "sennit/metrics/registry.hpp"

namespace sennit::metrics {

/// How a call ended. All but `ok` count as errors, under the label to_string() gives.
enum class Outcome : unsigned char {
  ok,
  client_error,  // The caller's fault: a 4xx, arguments that cannot be read.
  server_error,  // Ours: a 5xx, an exception.
  timed_out,
  cancelled,  // The caller went away.
  rejected,   // Not admitted, to protect the calls that are.
};
inline constexpr std::size_t outcome_count = 6;

/// "ok", "client_error", ... Static storage.
[[nodiscard]] std::string_view to_string(Outcome outcome);

struct GoldenSignalsOptions {
  std::string prefix;              // "http_server".
  std::string operation;           // The label for what is called: "route", "method".
  HistogramSettings latency = {};  // Recorded in nanoseconds.
};

class GoldenSignals;

/// What one worker records about one operation.
class GoldenCells {
 public:
  /// A call has begun.
  void begin() {
    traffic_->add();
    in_flight_->add(1);
  }
  /// A call that had begun has ended, after so long.
  void end(Duration latency, Outcome outcome) {
    in_flight_->add(-1);
    if (outcome == Outcome::ok) [[likely]] {
      if (latency_ok_ == nullptr) [[unlikely]]
        take_latency_ok();
      latency_ok_->record(latency.count());
    } else {
      end_badly(latency, outcome);
    }
  }

 private:
  friend class GoldenSignals;
  GoldenCells() = default;
  void take_latency_ok();
  void end_badly(Duration latency, Outcome outcome);

  GoldenSignals* signals_ = nullptr;
  std::string operation_;
  std::size_t slot_ = 0;
  CounterCell* traffic_ = nullptr;
  GaugeCell* in_flight_ = nullptr;
  HistogramCell* latency_ok_ = nullptr;
  HistogramCell* latency_error_ = nullptr;               // Null until there was an error.
  std::array<CounterCell*, outcome_count> errors_ = {};  // The same, for each outcome.
};

class GoldenSignals {
 public:
  /// Registers the families. The same prefix and label again gives the same series.
  GoldenSignals(Registry& registry, GoldenSignalsOptions options);

  /// The cells of a worker for an operation. Takes locks: ask once. Requires slot < slots of the
  /// registry.
  [[nodiscard]] GoldenCells cells(std::string_view operation, std::size_t slot);

  /// Shows what in_flight is to be compared with.
  void set_in_flight_limit(std::size_t limit);

 private:
  friend class GoldenCells;

  Registry& registry_;
  const std::string prefix_;
  Family<Counter>& traffic_;
  Family<SharedHistogram>& latency_;
  Family<Counter>& errors_;
  Family<Gauge>& in_flight_;
};

}  // namespace sennit::metrics
