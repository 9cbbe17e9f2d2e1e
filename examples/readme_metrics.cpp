// What a program counts, as Prometheus reads it: the program that sennit/metrics/README.md shows.

#include <fmt/core.h>

#include "sennit/metrics/exposition.hpp"
#include "sennit/metrics/golden_signals.hpp"
#include "sennit/metrics/process.hpp"

using namespace sennit;

int main() {
  metrics::Registry registry({.slots = 2});  // Two workers record.
  auto& sold = registry.counter("shop_sold_total", "Things sold.", {"kind"});
  metrics::CounterCell& books = sold.with("book").cell(0);  // Once, by worker 0.
  books.add();                                              // Often.

  metrics::GoldenSignals signals(registry, {.prefix = "shop", .operation = "route"});
  metrics::GoldenCells requests = signals.cells("/books/{id}", 0);
  requests.begin();
  requests.end(std::chrono::microseconds(150), metrics::Outcome::ok);

  metrics::register_process_metrics(registry);
  fmt::print("{}", metrics::exposition(registry, metrics::TextFormat::prometheus));
}
