#include <cstdint>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/metrics/histogram.hpp"
#include "sennit/metrics/percentiles.hpp"
#include "sennit/perftest/perftest.hpp"

// What a record costs, beside a histogram's: each call records 4,096 samples, so that one record
// takes 1/items. The first test is the loop over the samples alone.

namespace sennit::metrics {
namespace {

constexpr int samples_per_call = 4096;

class PercentilesPerf : public testing::Test {
 protected:
  PercentilesPerf() {
    Random random(1);
    for (std::int64_t& sample : samples_) sample = random.between(20'000, 220'000);
  }

  // State is in memory after each record, as it is when other code runs in between.
  template <class Record>
  void record_all(Record record) const {
    for (const std::int64_t sample : samples_) {
      record(sample);
      perftest::clobber_memory();
    }
  }

  std::vector<std::int64_t> samples_ = std::vector<std::int64_t>(samples_per_call);
  MeanOfMaxima mean_{0.99};
  QuantileOfMaxima quantile_{0.99};
  Histogram coarse_{{.significant_digits = 2}};
  Histogram fine_{{.significant_digits = 3}};
};

PERF_TEST_F_WITH(PercentilesPerf, NoRecord, .items_per_call = samples_per_call) {
  record_all([](std::int64_t sample) { perftest::do_not_optimize(sample); });
}
PERF_TEST_F_WITH(PercentilesPerf, MeanOfMaxima, .items_per_call = samples_per_call) {
  record_all([&](std::int64_t sample) { mean_.record(sample); });
}
PERF_TEST_F_WITH(PercentilesPerf, QuantileOfMaxima, .items_per_call = samples_per_call) {
  record_all([&](std::int64_t sample) { quantile_.record(sample); });
}
PERF_TEST_F_WITH(PercentilesPerf, HistogramOfTwoDigits, .items_per_call = samples_per_call) {
  record_all([&](std::int64_t sample) { coarse_.record(sample); });
}
PERF_TEST_F_WITH(PercentilesPerf, HistogramOfThreeDigits, .items_per_call = samples_per_call) {
  record_all([&](std::int64_t sample) { fine_.record(sample); });
}

}  // namespace
}  // namespace sennit::metrics
