#pragma once
// ServerMetrics: what one worker of a server counts, without a lock and without a clock.
//
//   http_server_requests_total{route} and its kin: see metrics/golden_signals.hpp
//   http_server_connections                         open now
//   http_server_connections_accepted_total
//   http_server_accept_pauses_total                 for want of descriptors or by the limit
//   http_server_refused_total{status}               messages that were no request: 400, 408, 431,
//   ... http_server_shed_share                          of requests, turned away for queue delay
//
// A worker's cells are its own; without a registry nothing is counted.

#include <array>
#include <cstddef>
#include <vector>

#include "sennit/http/router.hpp"
#include "sennit/metrics/golden_signals.hpp"
#include "sennit/metrics/registry.hpp"

namespace sennit::http::detail {

struct Shared;

class ServerMetrics {
 public:
  ServerMetrics(const Shared& shared, unsigned worker_index);

  void begin(const Router::Match& match) {
    if (!cells_.empty()) cells_[index_of(match)].begin();
  }
  void end(const Router::Match& match, Duration latency, metrics::Outcome outcome) {
    if (!cells_.empty()) cells_[index_of(match)].end(latency, outcome);
  }
  void accepted(std::size_t open_now);
  void ended(std::size_t open_now);
  void paused();
  void refused(int status);
  void set_shed_share(double share);

 private:
  [[nodiscard]] std::size_t index_of(const Router::Match& match) const {
    return match.found == Router::Found::route ? match.handler_index : cells_.size() - 1;
  }
  std::vector<metrics::GoldenCells> cells_;  // By route; the last one for what none takes.
  unsigned worker_index_;
  metrics::GaugeCell* connections_ = nullptr;
  metrics::CounterCell* accepted_ = nullptr;
  metrics::CounterCell* pauses_ = nullptr;
  metrics::GaugeCell* shed_share_ = nullptr;
  metrics::Family<metrics::Counter>* refused_ = nullptr;
};

}  // namespace sennit::http::detail
