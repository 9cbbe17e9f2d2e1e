#include "sennit/metrics/cell.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace sennit::metrics {
namespace {

TEST(CounterCell, Adds) {
  CounterCell cell;
  cell.add();
  cell.add(41);
  EXPECT_EQ(cell.value(), 42U);
}

TEST(GaugeCell, SetsAndAdds) {
  GaugeCell cell;
  cell.set(10);
  cell.add(-2.5);
  EXPECT_EQ(cell.value(), 7.5);
}

TEST(HistogramCell, GivesWhatAHistogramWouldHave) {
  const HistogramOptions options{.highest = 1'000'000, .significant_digits = 2};
  HistogramCell cell(options);
  Histogram plain(options), total(options);
  for (const int value : {5, 70'000, -1, 2'000'000, 5}) {
    cell.record(value);
    plain.record(value);
  }
  cell.add_to(total);
  EXPECT_EQ(total.count(), plain.count());
  EXPECT_EQ(total.sum(), plain.sum());
  EXPECT_EQ(total.clamped_count(), plain.clamped_count());
  EXPECT_EQ(total.min(), plain.min());
  EXPECT_EQ(total.max(), plain.max());
  for (std::size_t i = 0; i < total.layout().bucket_count(); ++i) {
    ASSERT_EQ(total.count_at(i), plain.count_at(i));
  }
}

// Under ThreadSanitizer this is also the proof that reading needs no lock.
TEST(Cells, MayBeReadWhileTheirWriterGoesOn) {
  constexpr std::uint64_t records = 100'000;
  CounterCell counter;
  HistogramCell histogram({});
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < records; ++i) {
      counter.add();
      histogram.record(static_cast<std::int64_t>(i));
    }
    done = true;
  });
  std::uint64_t last_count = 0;
  while (!done) {
    const std::uint64_t count = counter.value();
    EXPECT_GE(count, last_count);
    last_count = count;
    Histogram snapshot;
    histogram.add_to(snapshot);
    EXPECT_LE(snapshot.count(), records);
  }
  writer.join();
  EXPECT_EQ(counter.value(), records);
  Histogram total;
  histogram.add_to(total);
  EXPECT_EQ(total.count(), records);
}

TEST(Cells, FillTheirCacheLines) {
  EXPECT_EQ(alignof(CounterCell), cache_line_bytes);
  EXPECT_EQ(sizeof(CounterCell), cache_line_bytes);
  EXPECT_EQ(sizeof(HistogramCell) % cache_line_bytes, 0U);
}

}  // namespace
}  // namespace sennit::metrics
