#include <array>
#include <cstdint>

#include "sennit/base/random.hpp"
#include "sennit/metrics/histogram.hpp"
#include "sennit/metrics/histogram_encoding.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit::metrics {
namespace {

using perftest::do_not_optimize;

// Latencies between 20 us and 220 us, made before, so that making them costs nothing.
class HistogramPerf : public testing::Test {
 protected:
  HistogramPerf() {
    Random random(1);
    for (std::int64_t& value : values_) {
      value = random.between(20'000, 220'000);
      histogram_.record(value);
    }
  }
  [[nodiscard]] std::int64_t next() { return values_[++at_ % values_.size()]; }

  std::array<std::int64_t, 4096> values_{};
  std::size_t at_ = 0;
  Histogram histogram_;
  Histogram other_;
};

// What the loop over the values costs alone; to be taken off the others.
PERF_TEST_F(HistogramPerf, NoRecord) { do_not_optimize(next()); }
PERF_TEST_F(HistogramPerf, Record) { histogram_.record(next()); }

PERF_TEST_F(HistogramPerf, Percentile) { do_not_optimize(histogram_.percentile(99)); }
PERF_TEST_F(HistogramPerf, Merge) { other_.merge(histogram_); }
PERF_TEST_F(HistogramPerf, EncodeCompressed) { do_not_optimize(encode_compressed(histogram_)); }

}  // namespace
}  // namespace sennit::metrics
