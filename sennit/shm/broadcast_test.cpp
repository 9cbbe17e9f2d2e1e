#include "sennit/shm/broadcast.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "sennit/shm/testing/places.hpp"
#include "sennit/shm/testing/stop_writer.hpp"

namespace sennit::shm {
namespace {

using testing::StopWriter;
using HookedBroadcast = BasicBroadcast<HookedStore>;

class BroadcastTest : public ::testing::Test {
 protected:
  using What = BroadcastRead::What;
  static constexpr std::uint32_t bytes_max = 128;

  static BroadcastOptions options(std::uint64_t slots) {
    BroadcastOptions made;
    made.slot_count = slots;
    made.message_bytes_max = bytes_max;
    return made;
  }
  template <class B = Broadcast>
  static B make(std::uint64_t slots) {
    auto made = B::create(Place::heap(), options(slots));
    EXPECT_TRUE(made) << made.error().to_string();
    return std::move(*made);
  }
  static std::size_t length(std::uint64_t number) { return number * 13 % (bytes_max + 1); }
  static std::vector<std::byte> message(std::uint64_t number) {
    std::vector<std::byte> made(length(number));
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = static_cast<std::byte>((number * 37 + i * 11) & 0xff);
    }
    return made;
  }
  bool is_whole(const BroadcastRead& read) const {
    const auto expected = message(read.sequence);
    return read.bytes == expected.size() &&
           std::equal(expected.begin(), expected.end(), buffer_.begin());
  }
  std::vector<std::byte> buffer_ = std::vector<std::byte>(bytes_max);
  const RealClock clock_;
  testing::Places places_;
};

TEST_F(BroadcastTest, EveryReaderGetsEveryMessageAtItsOwnPosition) {
  const Place place = places_.posix();
  auto feed = Broadcast::create(place, options(16));
  ASSERT_TRUE(feed) << feed.error().to_string();
  auto writer = feed->writer();
  ASSERT_TRUE(writer);
  const auto there = Broadcast::open(place, Access::read_only);
  ASSERT_TRUE(there);
  auto first = there->reader_from_oldest();
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(writer->push(message(i), i * 100));
  auto late = there->reader_from_now();
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto read = first.read(buffer_);
    ASSERT_EQ(read.what, What::message);
    EXPECT_EQ(read.sequence, i);
    EXPECT_EQ(read.time, i * 100);
    EXPECT_TRUE(is_whole(read));
  }
  EXPECT_EQ(first.read(buffer_).what, What::none);
  EXPECT_EQ(late.read(buffer_).what, What::none);
  ASSERT_TRUE(writer->push(message(10)));
  EXPECT_EQ(late.read(buffer_).sequence, 10u);
}

TEST_F(BroadcastTest, ASlowReaderIsToldExactlyHowMuchItLost) {
  for (std::uint64_t pushed = 8; pushed < 40; ++pushed) {
    Broadcast feed = make(8);
    auto writer = feed.writer();
    auto reader = feed.reader_from_oldest();
    for (std::uint64_t i = 0; i < pushed; ++i) ASSERT_TRUE(writer->push(message(i)));
    std::uint64_t lost = 0;
    std::uint64_t got = 0;
    for (;;) {
      const auto read = reader.read(buffer_);
      if (read.what == What::none) break;
      if (read.what == What::lost) {
        lost += read.lost;
      } else {
        ASSERT_EQ(read.what, What::message);
        EXPECT_EQ(read.sequence, lost + got) << "the first it gets is the one after what was lost";
        EXPECT_TRUE(is_whole(read));
        ++got;
      }
    }
    EXPECT_EQ(lost + got, pushed);
    // A slot that is still whole is read even if the next push will overwrite it.
    EXPECT_EQ(got, pushed == 8 ? 8u : 7u);
  }
}

TEST_F(BroadcastTest, SeeksByTime) {
  Broadcast feed = make(16);
  auto writer = feed.writer();
  auto reader = feed.reader_from_oldest();
  reader.seek_time(5);
  EXPECT_EQ(reader.position(), 0u);
  for (std::uint64_t i = 0; i < 40; ++i) ASSERT_TRUE(writer->push(message(i), 100 + i / 2 * 10));
  struct Case {
    std::uint64_t time, sequence;
  };
  for (const auto [time, sequence] :
       {Case{0, 25}, Case{225, 26}, Case{230, 26}, Case{231, 28}, Case{290, 38}, Case{291, 40}}) {
    reader.seek_time(time);
    EXPECT_EQ(reader.position(), sequence) << time;
  }
  ASSERT_TRUE(writer->push(message(40), 7)) << "time does not go back";
  reader.seek(40);
  EXPECT_EQ(reader.read(buffer_).time, 290u);
}

TEST_F(BroadcastTest, ABufferThatIsTooSmallIsToldTheSize) {
  Broadcast feed = make(4);
  auto writer = feed.writer();
  auto reader = feed.reader_from_oldest();
  ASSERT_TRUE(writer->push(message(9)));  // Its length is that of number 9: 117.
  const auto read = reader.read(std::span(buffer_).first(116));
  EXPECT_EQ(read.what, What::too_small);
  EXPECT_EQ(read.bytes, 117u);
  EXPECT_EQ(reader.read(buffer_).what, What::message);
  EXPECT_FALSE(writer->push(std::vector<std::byte>(bytes_max + 1)));
}

TEST_F(BroadcastTest, NothingTornGetsOutWhileAWriterOvertakes) {
  Broadcast feed = make(4);
  auto writer = feed.writer();
  std::atomic<bool> stop = false;
  std::atomic<int> failures = 0;
  std::atomic<std::uint64_t> total = 0;
  const auto read_all = [&] {
    auto reader = feed.reader_from_oldest();
    std::vector<std::byte> buffer(bytes_max);
    std::uint64_t next = reader.position(), got = 0;
    while (!stop.load() || got == 0) {
      const auto read = reader.read(buffer);
      if (read.what == What::lost) next += read.lost;
      if (read.what == What::damaged) failures.fetch_add(1);
      if (read.what != What::message) continue;
      const auto expected = message(read.sequence);
      const bool is_right = read.sequence == next && read.bytes == expected.size() &&
                            std::equal(expected.begin(), expected.end(), buffer.begin());
      if (!is_right) failures.fetch_add(1);
      next = read.sequence + 1;
      ++got;
    }
    total.fetch_add(got);
  };
  std::thread first(read_all), second(read_all);
  for (std::uint64_t i = 0; i < 60'000; ++i) {
    if (!writer->push(message(i))) failures.fetch_add(1);
  }
  stop.store(true);
  first.join();
  second.join();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_GT(total.load(), 0u);
}

TEST_F(BroadcastTest, AWriterStoppedAtAnyStoreIsTakenOverFrom) {
  int stops = 0;
  for (;; ++stops) {
    HookedBroadcast feed = make<HookedBroadcast>(4);
    std::uint64_t acknowledged = 0;
    const bool stopped = StopWriter::stops_at(stops, [&] {
      auto writer = feed.writer();
      for (std::uint64_t i = 0; i < 7; ++i, ++acknowledged) {
        if (!writer->push(message(i), i)) return;
      }
    });
    // Readers are served whatever state it left.
    auto before = feed.reader_from_oldest();
    for (auto read = before.read(buffer_); read.what != What::none; read = before.read(buffer_)) {
      ASSERT_NE(read.what, What::damaged) << stops;
      ASSERT_TRUE(read.what != What::message || is_whole(read)) << stops;
    }
    EXPECT_GE(before.position(), acknowledged) << stops;
    EXPECT_LE(before.position(), acknowledged + 1) << stops;
    StopWriter::kill_owners(feed.segment());
    auto writer = feed.writer();
    ASSERT_TRUE(writer) << stops << writer.error().to_string();
    EXPECT_GE(writer->head(), acknowledged);
    EXPECT_GE(writer->head(), before.position()) << "what was seen stays";
    const std::uint64_t next = writer->head();
    auto reader = feed.reader_from_now();
    ASSERT_TRUE(writer->push(message(next), next));
    const auto read = reader.read(buffer_);
    ASSERT_EQ(read.what, What::message) << stops;
    EXPECT_TRUE(is_whole(read));
    if (!stopped) break;
  }
  EXPECT_GT(stops, 60);
}

TEST_F(BroadcastTest, WaitsForTheNextMessage) {
  const Place place = places_.posix();
  auto feed = Broadcast::create(place, options(8));
  ASSERT_TRUE(feed);
  auto writer = feed->writer();
  for (const Access access : {Access::read_only, Access::read_write}) {
    auto there = Broadcast::open(place, access);
    ASSERT_TRUE(there);
    auto reader = there->reader_from_now();
    EXPECT_EQ(reader.wait(Deadline::at(TimePoint()), clock_).error().code(), Errc::timed_out);
    std::thread push([&] { static_cast<void>(writer->push(message(writer->head()))); });
    const auto waited = reader.wait(Deadline::after(std::chrono::seconds(100), clock_), clock_);
    push.join();
    EXPECT_TRUE(waited) << waited.error().to_string();
    EXPECT_EQ(reader.read(buffer_).what, What::message);
  }
}

TEST_F(BroadcastTest, DamagedMarksAreAnErrorAndWaitEnds) {
  for (const std::uint64_t mark :
       {std::uint64_t{3}, std::uint64_t{4}, ~std::uint64_t{0}, std::uint64_t{2000}}) {
    Broadcast feed = make(4);
    auto reader = feed.reader_from_oldest();
    reinterpret_cast<std::atomic<std::uint64_t>*>(feed.segment().body().data() +
                                                  sizeof(BroadcastShared))
        ->store(mark);
    EXPECT_EQ(reader.read(buffer_).what, What::damaged) << mark;
    EXPECT_EQ(reader.wait(Deadline::never(), clock_).error().code(), Errc::malformed);
    EXPECT_EQ(feed.writer().error().code(), Errc::malformed) << mark;
  }
  Layout layout = detail::broadcast_layout(options(4));
  for (const Geometry& geometry : {Geometry{}, Geometry{3, 128}, Geometry{4, 127, 1},
                                   Geometry{4, 1000}, Geometry{std::uint64_t{1} << 60, 128}}) {
    layout.geometry = geometry;
    EXPECT_EQ(Broadcast::from(Segment::create(Place::heap(), layout)).error().code(),
              Errc::malformed);
  }
}

}  // namespace
}  // namespace sennit::shm
