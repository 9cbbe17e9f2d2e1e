#include "sennit/shm/seqlock.hpp"

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

#include "sennit/shm/testing/stop_writer.hpp"

namespace sennit::shm {
namespace {

using SeqlockTestValue = std::array<std::uint64_t, 9>;

SeqlockTestValue seqlock_test_value(std::uint64_t number) {
  SeqlockTestValue value;
  value.fill(number);
  return value;
}

TEST(SeqlockCell, IsReadWholeWhileItIsWritten) {
  SeqlockCell<SeqlockTestValue> cell{};
  std::atomic<bool> stop = false;
  std::atomic<int> torn = 0;
  std::thread reader([&] {
    std::uint64_t last = 0;
    while (!stop.load()) {
      const SeqlockTestValue value = cell.load();
      if (value != seqlock_test_value(value[0]) || value[0] < last) torn.fetch_add(1);
      last = value[0];
    }
  });
  for (std::uint64_t i = 1; i < 100'000; ++i) cell.store(seqlock_test_value(i));
  stop.store(true);
  reader.join();
  EXPECT_EQ(torn.load(), 0);
  EXPECT_EQ(cell.load()[3], 99'999u);
}

TEST(SeqlockCell, HasTheOldValueOrTheNewWhereverItsWriterIsStopped) {
  for (int stops = 0;; ++stops) {
    SeqlockCell<SeqlockTestValue> cell{};
    cell.store(seqlock_test_value(1));
    const bool stopped = testing::StopWriter::stops_at(
        stops, [&] { cell.store<HookedStore>(seqlock_test_value(2)); });
    EXPECT_EQ(cell.load(), seqlock_test_value(stopped ? 1 : 2)) << stops;
    cell.store(seqlock_test_value(3));
    EXPECT_EQ(cell.load(), seqlock_test_value(3));
    if (!stopped) {
      EXPECT_EQ(stops, 10);
      break;
    }
  }
}

}  // namespace
}  // namespace sennit::shm
