#pragma once
// Counter, Gauge and SharedHistogram: what many workers record and a reader sums.
//
// Each has a fixed number of slots, one per worker. A worker asks once for the cell of its slot,
// keeps the reference, and records into it without a lock (cell.hpp); reading adds the cells up.
//
//   metrics::CounterCell& requests = counter.cell(worker_index);   // at start
//   requests.add();                                                // per request, within 1 ns
//
// Thread safety: every function here from any thread; a cell has one writer at a time. Cells live
// as long as their metric.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sennit/metrics/cell.hpp"
#include "sennit/metrics/histogram.hpp"

namespace sennit::metrics {

/// Only goes up, until the process ends.
class Counter {
 public:
  explicit Counter(std::size_t slots);

  /// Requires slot < slots.
  [[nodiscard]] CounterCell& cell(std::size_t slot);
  [[nodiscard]] std::uint64_t value() const;

 private:
  std::vector<CounterCell> cells_;
};

/// A level: what is open, queued or held now. Its value is the sum over all slots.
class Gauge {
 public:
  explicit Gauge(std::size_t slots);

  /// Requires slot < slots.
  [[nodiscard]] GaugeCell& cell(std::size_t slot);
  [[nodiscard]] double value() const;

 private:
  std::vector<GaugeCell> cells_;
};

/// A Histogram for all workers. A slot takes memory when its cell is first asked for.
class SharedHistogram {
 public:
  /// Requires HistogramLayout::supports(options).
  SharedHistogram(std::size_t slots, HistogramOptions options);

  /// Requires slot < slots.
  [[nodiscard]] HistogramCell& cell(std::size_t slot);
  /// Of all slots. Exact once the writers pause, see rule 3 in cell.hpp.
  [[nodiscard]] Histogram snapshot() const;

 private:
  const HistogramOptions options_;
  mutable std::mutex mutex_;  // Guards the pointers, not what they point to.
  std::vector<std::unique_ptr<HistogramCell>> cells_;
};

}  // namespace sennit::metrics
