#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/metrics/cell.hpp"
#include "sennit/metrics/metric.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit::metrics {
namespace {

class CellPerf : public testing::Test {
 protected:
  CellPerf() {
    Random random(1);
    for (std::int64_t& value : values_) value = random.between(20'000, 220'000);
    for (std::size_t slot = 0; slot < slots; ++slot) {
      counted_.push_back(&counter_.cell(slot));
      recorded_.push_back(&histogram_.cell(slot));
    }
  }

  static constexpr std::size_t slots = 2;
  std::array<std::int64_t, 4096> values_{};
  std::size_t at_ = 0;
  Counter counter_{slots};
  SharedHistogram histogram_{slots, {.significant_digits = 2}};
  std::vector<CounterCell*> counted_;
  std::vector<HistogramCell*> recorded_;
  std::atomic<std::uint64_t> shared_ = 0;
};

PERF_TEST_F(CellPerf, Empty) {}
PERF_TEST_F(CellPerf, CounterAdd) { counted_[0]->add(); }
PERF_TEST_F(CellPerf, HistogramRecord) { recorded_[0]->record(values_[++at_ % values_.size()]); }

// Two workers side by side: in cells of their own, and on one atomic as one would without them.
PERF_TEST_F_WITH(CellPerf, CounterAddOnTwoThreads, .threads = 2) {
  counted_[static_cast<std::size_t>(perf_thread.index)]->add();
}
PERF_TEST_F_WITH(CellPerf, SharedAtomicOnTwoThreads, .threads = 2) { ++shared_; }

}  // namespace
}  // namespace sennit::metrics
