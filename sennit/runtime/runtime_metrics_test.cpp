#include "sennit/runtime/runtime_metrics.hpp"

#include <gtest/gtest.h>
#include <string>

#include "sennit/metrics/exposition.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/worker_stats.hpp"

namespace sennit::runtime {
namespace {

class RuntimeMetricsTest : public testing::BackendTest {
 protected:
  [[nodiscard]] std::string shown() const {
    return metrics::exposition(registry_, metrics::TextFormat::openmetrics);
  }
  /// The number of a line, or -1.
  [[nodiscard]] double value(const std::string& series) const {
    const std::string text = shown();
    const std::size_t at = text.find("\n" + series + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size() + 2));
  }

  metrics::Registry registry_{{.slots = 2}};
};

TEST_P(RuntimeMetricsTest, ShowEachWorker) {
  register_runtime_metrics(registry_, runtime());
  for (const unsigned worker : {0U, 1U}) {
    // A sleep lasts until a turn has ended.
    runtime().run([] { static_cast<void>(wait(sleep_for(std::chrono::milliseconds(1)))); }, worker);
    const std::string label = "{worker=\"" + std::to_string(worker) + "\"}";
    EXPECT_GE(value("sennit_worker_turns_total" + label), 1) << shown();
    EXPECT_GE(value("sennit_worker_jobs_total" + label), 1) << shown();
    EXPECT_GE(value("sennit_worker_cpu_seconds_total" + label), 0) << shown();
    EXPECT_GE(value("sennit_worker_ready_jobs" + label), 0) << shown();
    EXPECT_GE(value("sennit_worker_busy_fibers" + label), 0) << shown();
    EXPECT_GE(value("sennit_worker_open_sockets" + label), 0) << shown();
    EXPECT_GE(value("sennit_worker_loop_lag_seconds_count" + label), 0) << shown();
    for (const char* const series :
         {"sennit_worker_stacks{worker=\"0\",state=\"on_loan\"}",
          "sennit_worker_stacks{worker=\"0\",state=\"idle\"}",
          "sennit_worker_ring_depth{worker=\"0\",ring=\"submission\"}",
          "sennit_worker_ring_depth{worker=\"0\",ring=\"completion\"}"}) {
      EXPECT_GE(value(series), 0) << series << " in\n" << shown();
    }
  }
}

// After the first 10 ms of turns the slower numbers are there too.
TEST_P(RuntimeMetricsTest, ShowTheRingsWhereThereAreSome) {
  register_runtime_metrics(registry_, runtime());
  runtime().run([&] {
    for (int i = 0; i < 2; ++i) static_cast<void>(wait(sleep_for(2 * stats_interval)));
  });
  const bool has_rings = runtime().backend() == io::BackendKind::uring;
  EXPECT_EQ(value("sennit_worker_ring_entries{worker=\"0\",ring=\"submission\"}") > 0, has_rings);
  EXPECT_EQ(value("sennit_worker_ring_entries{worker=\"0\",ring=\"completion\"}") > 0, has_rings);
  EXPECT_GE(value("sennit_worker_stacks{worker=\"0\",state=\"on_loan\"}"), 1);
  EXPECT_GE(value("sennit_worker_loop_lag_seconds_count{worker=\"0\"}"), 1);
}

TEST_P(RuntimeMetricsTest, MayOutliveTheRuntime) {
  register_runtime_metrics(registry_, runtime());
  runtime().run([] {});
  stop_runtime();
  EXPECT_GE(value("sennit_worker_turns_total{worker=\"0\"}"), 1) << shown();
}

SENNIT_FOR_EACH_BACKEND(RuntimeMetricsTest);

}  // namespace
}  // namespace sennit::runtime
