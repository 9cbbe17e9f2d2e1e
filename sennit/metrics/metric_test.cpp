#include "sennit/metrics/metric.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace sennit::metrics {
namespace {

TEST(Counter, SumsItsSlots) {
  Counter counter(3);
  counter.cell(0).add(2);
  counter.cell(2).add(40);
  EXPECT_EQ(counter.value(), 42U);
}

TEST(Gauge, SumsItsSlotsWhicheverTookAway) {
  Gauge gauge(2);
  gauge.cell(0).add(5);   // Opened on one worker,
  gauge.cell(1).add(-2);  // closed on another.
  EXPECT_EQ(gauge.value(), 3);
}

TEST(SharedHistogram, MergesItsSlots) {
  SharedHistogram histogram(4, {});
  EXPECT_EQ(histogram.snapshot().count(), 0U);
  histogram.cell(0).record(100);
  histogram.cell(3).record(300);
  const Histogram total = histogram.snapshot();
  EXPECT_EQ(total.count(), 2U);
  EXPECT_EQ(total.min(), 100);
  EXPECT_EQ(total.max(), 300);
}

TEST(SharedHistogram, HandsOutOneCellPerSlotForGood) {
  SharedHistogram histogram(2, {});
  EXPECT_EQ(&histogram.cell(1), &histogram.cell(1));
  EXPECT_NE(&histogram.cell(0), &histogram.cell(1));
}

TEST(Metrics, LoseNothingWhenEveryWorkerRecords) {
  constexpr std::size_t workers = 4;
  constexpr int records = 20'000;
  Counter counter(workers);
  Gauge gauge(workers);
  SharedHistogram histogram(workers, {.significant_digits = 2});
  std::vector<std::thread> threads;
  for (std::size_t slot = 0; slot < workers; ++slot) {
    threads.emplace_back([&, slot] {
      CounterCell& counted = counter.cell(slot);
      GaugeCell& level = gauge.cell(slot);
      HistogramCell& recorded = histogram.cell(slot);
      for (int i = 0; i < records; ++i) {
        counted.add();
        level.add(1);
        recorded.record(i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), workers * records);
  EXPECT_EQ(gauge.value(), workers * records);
  EXPECT_EQ(histogram.snapshot().count(), workers * records);
}

TEST(MetricsDeathTest, RefuseASlotTheyDoNotHave) {
  EXPECT_DEATH(Counter(2).cell(2).add(), "slot");
  EXPECT_DEATH(Gauge(2).cell(2).add(1), "slot");
  EXPECT_DEATH(SharedHistogram(2, {}).cell(2).record(1), "slot");
}

}  // namespace
}  // namespace sennit::metrics
