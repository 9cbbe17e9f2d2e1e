#include "sennit/metrics/metric.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::metrics {

Counter::Counter(std::size_t slots) : cells_(slots) {}

CounterCell& Counter::cell(std::size_t slot) {
  SENNIT_ASSERT(slot < cells_.size(), slot, cells_.size());
  return cells_[slot];
}

std::uint64_t Counter::value() const {
  std::uint64_t sum = 0;
  for (const CounterCell& cell : cells_) sum += cell.value();
  return sum;
}

Gauge::Gauge(std::size_t slots) : cells_(slots) {}

GaugeCell& Gauge::cell(std::size_t slot) {
  SENNIT_ASSERT(slot < cells_.size(), slot, cells_.size());
  return cells_[slot];
}

double Gauge::value() const {
  double sum = 0;
  for (const GaugeCell& cell : cells_) sum += cell.value();
  return sum;
}

SharedHistogram::SharedHistogram(std::size_t slots, HistogramOptions options)
    : options_(options), cells_(slots) {
  SENNIT_ASSERT(HistogramLayout::supports(options), options.lowest, options.highest,
                options.significant_digits);
}

HistogramCell& SharedHistogram::cell(std::size_t slot) {
  SENNIT_ASSERT(slot < cells_.size(), slot, cells_.size());
  const std::lock_guard lock(mutex_);
  if (!cells_[slot]) cells_[slot] = std::make_unique<HistogramCell>(options_);
  return *cells_[slot];
}

Histogram SharedHistogram::snapshot() const {
  Histogram total(options_);
  const std::lock_guard lock(mutex_);
  for (const auto& cell : cells_) {
    if (cell) cell->add_to(total);
  }
  return total;
}

}  // namespace sennit::metrics
