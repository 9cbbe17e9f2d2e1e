#include "sennit/metrics/golden_signals.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::metrics {

std::string_view to_string(Outcome outcome) {
  constexpr std::array<std::string_view, outcome_count> names = {
      "ok", "client_error", "server_error", "timed_out", "cancelled", "rejected"};
  const auto index = static_cast<std::size_t>(outcome);
  SENNIT_ASSERT(index < names.size(), index);
  return names[index];
}

void GoldenCells::take_latency_ok() {
  latency_ok_ = &signals_->latency_.with(operation_, "ok").cell(slot_);
}

void GoldenCells::end_badly(Duration latency, Outcome outcome) {
  CounterCell*& errors = errors_[static_cast<std::size_t>(outcome)];
  if (errors == nullptr) {
    errors = &signals_->errors_.with(operation_, to_string(outcome)).cell(slot_);
  }
  errors->add();
  if (latency_error_ == nullptr) {
    latency_error_ = &signals_->latency_.with(operation_, "error").cell(slot_);
  }
  latency_error_->record(latency.count());
}

GoldenSignals::GoldenSignals(Registry& registry, GoldenSignalsOptions options)
    : registry_(registry),
      prefix_(std::move(options.prefix)),
      traffic_(registry.counter(prefix_ + "_requests_total", "Calls begun.", {options.operation})),
      latency_(registry.histogram(prefix_ + "_request_seconds", "How long calls took that ended.",
                                  {options.operation, "result"}, std::move(options.latency))),
      errors_(registry.counter(prefix_ + "_errors_total", "Calls that ended badly.",
                               {options.operation, "class"})),
      in_flight_(registry.gauge(prefix_ + "_in_flight", "Calls begun and not ended.",
                                {options.operation})) {}

GoldenCells GoldenSignals::cells(std::string_view operation, std::size_t slot) {
  GoldenCells cells;
  cells.signals_ = this;
  cells.operation_ = operation;
  cells.slot_ = slot;
  cells.traffic_ = &traffic_.with(operation).cell(slot);
  cells.in_flight_ = &in_flight_.with(operation).cell(slot);
  static_cast<void>(latency_.with(operation, "ok"));  // Shown from the start.
  return cells;
}

void GoldenSignals::set_in_flight_limit(std::size_t limit) {
  registry_.gauge_from(prefix_ + "_in_flight_limit", "The most calls that are admitted at once.",
                       [limit] { return static_cast<double>(limit); });
}

}  // namespace sennit::metrics
