// metrics_sample ACCEPT: prints a content type, an empty line, and metrics of every kind in the
// format that this Accept header asks for. prometheus_test.py shows them to a real Prometheus.

#include <chrono>
#include <cstdio>
#include <fmt/core.h>
#include <limits>
#include <string>

#include "sennit/base/log.hpp"
#include "sennit/metrics/exposition.hpp"
#include "sennit/metrics/golden_signals.hpp"
#include "sennit/metrics/process.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/runtime_metrics.hpp"
#include "sennit/runtime/sleep.hpp"

namespace sennit {
namespace {

using namespace std::chrono_literals;

void fill(metrics::Registry& registry) {
  auto& requests =
      registry.counter("sample_requests_total", "Requests, by \"path\" and \\code.", {"path"});
  requests.with("/a\"b\\c\nd").cell(0).add(3);
  requests.with("na\xc3\xafve").cell(0).add(4);
  requests.with("\xff\xfe").cell(0).add(5);  // Not UTF-8: shown as replacement characters.
  requests.with("").cell(0).add(6);
  for (int i = 0; i < 100; ++i) requests.with("/" + std::to_string(i)).cell(1).add();
  registry.gauge("sample_level", "A level,\nin two lines.").with().cell(1).set(-2.5);
  registry.gauge_from("sample_nan", "None.",
                      [] { return std::numeric_limits<double>::quiet_NaN(); });
  registry.gauge_from("sample_infinite", "All.",
                      [] { return std::numeric_limits<double>::infinity(); });
  auto& taken = registry.histogram("sample_taken_seconds", "Time taken.").with().cell(0);
  for (int i = 0; i < 100; ++i) taken.record(1'500'000);  // Between the bounds 1 ms and 2.5 ms.

  metrics::GoldenSignals signals(registry, {.prefix = "sample_server", .operation = "route"});
  metrics::GoldenCells cells = signals.cells("/users/{id}", 0);
  for (int i = 0; i < 8; ++i) {
    cells.begin();
    if (i < 5) cells.end(3ms, metrics::Outcome::ok);
    if (i >= 5 && i < 7) cells.end(1ms, metrics::Outcome::server_error);
  }
  signals.set_in_flight_limit(1000);
  metrics::register_process_metrics(registry);
}

int print_sample(const char* accept) {
  log::set_level(log::Level::error);
  metrics::Registry registry({.slots = 2, .series_max = 8});
  fill(registry);
  const auto runtime = Runtime::start({});
  if (!runtime) {
    fmt::print(stderr, "metrics_sample: could not {}\n", runtime.error().to_string());
    return 1;
  }
  runtime::register_runtime_metrics(registry, **runtime);
  (*runtime)->run([] {
    for (int i = 0; i < 2; ++i) static_cast<void>(wait(sleep_for(20ms)));
  });
  const metrics::TextFormat format = metrics::format_for_accept(accept);
  fmt::print("{}\n\n{}", metrics::content_type(format), metrics::exposition(registry, format));
  return 0;
}

}  // namespace
}  // namespace sennit

int main(int argc, char** argv) {
  if (argc == 2) return sennit::print_sample(argv[1]);
  fmt::print(stderr, "metrics_sample ACCEPT\n");
  return 2;
}
