#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/metrics/histogram.hpp"
#include "sennit/metrics/percentiles.hpp"
#include "sennit/perftest/perftest.hpp"
#include "sennit/perftest/rounds.hpp"

namespace sennit::metrics {
namespace {

constexpr int samples = 4096;

// What a record costs, in nanoseconds a sample: the loop over the samples alone, then each way to
// keep what a percentile needs. State is in memory after each record, as it is when other code runs
// in between.
TEST(PercentilesPerf, RecordBesideAHistogram) {
  Random random(1);
  std::vector<std::int64_t> values(samples);
  for (std::int64_t& value : values) value = random.between(20'000, 220'000);
  perftest::Rounds rounds;
  const auto add = [&](const char* name, auto record) {
    rounds.add(
        name,
        [&values, record] {
          for (const std::int64_t value : values) {
            record(value);
            perftest::clobber_memory();
          }
        },
        samples);
  };
  MeanOfMaxima mean(0.99);
  QuantileOfMaxima quantile(0.99);
  Histogram coarse({.significant_digits = 2});
  Histogram fine({.significant_digits = 3});
  add("no record", [](std::int64_t value) { perftest::do_not_optimize(value); });
  add("MeanOfMaxima", [&](std::int64_t value) { mean.record(value); });
  add("QuantileOfMaxima", [&](std::int64_t value) { quantile.record(value); });
  add("Histogram, 2 digits", [&](std::int64_t value) { coarse.record(value); });
  add("Histogram, 3 digits", [&](std::int64_t value) { fine.record(value); });
  rounds.run();
}

}  // namespace
}  // namespace sennit::metrics
