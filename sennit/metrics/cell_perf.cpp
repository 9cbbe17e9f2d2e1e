#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/metrics/cell.hpp"
#include "sennit/metrics/metric.hpp"
#include "sennit/perftest/perftest.hpp"
#include "sennit/perftest/rounds.hpp"

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

// What recording may cost at most. One counter again and again is bound by the processor's way
// from a store to the next load, which a plain integer in memory pays as well; a program that
// counts this and that does not wait for it.
TEST(CellBounds, CounterWithinOneNanosecondAndRecordWithinFive) {
  constexpr std::size_t counters = 8;
  std::array<CounterCell, counters> cells;
  std::array<std::uint64_t, counters> plain{};
  HistogramCell histogram({.significant_digits = 2});
  Random random(1);
  std::array<std::int64_t, 4096> values{};
  for (std::int64_t& value : values) value = random.between(20'000, 220'000);
  perftest::Rounds rounds;
  std::size_t at = 0;
  rounds.add("value", [&] { return values[++at % values.size()]; });
  rounds.add("record", [&] { histogram.record(values[++at % values.size()]); });
  rounds.add("integer", [&] { ++plain[0]; });
  rounds.add("counter", [&] { cells[0].add(); });
  rounds.add(
      "integers",
      [&] {
        for (auto& each : plain) ++each;
      },
      counters);
  rounds.add(
      "counters",
      [&] {
        for (auto& each : cells) each.add();
      },
      counters);
  rounds.run();
  const auto least = [&](const char* name) {
    return std::ranges::min(rounds[name].ns_per_call) / rounds[name].items_per_call;
  };
  EXPECT_LT(least("counters"), 1);
  EXPECT_LT(least("counter"), 1 + least("integer"));
  EXPECT_LT(least("record"), 5 + least("value"));
}

}  // namespace
}  // namespace sennit::metrics
