#include "sennit/shm/inspect.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

#include "sennit/shm/array.hpp"
#include "sennit/shm/broadcast.hpp"
#include "sennit/shm/queue.hpp"
#include "sennit/shm/testing/places.hpp"

namespace sennit::shm {
namespace {

class InspectTest : public ::testing::Test {
 protected:
  static std::string fact(const Segment& segment, std::string_view name) {
    const auto facts = describe(segment);
    if (!facts) return facts.error().to_string();
    const auto found = std::ranges::find(*facts, name, &Facts::value_type::first);
    return found == facts->end() ? "" : found->second;
  }
  static std::vector<std::string> entries(const Segment& segment) {
    std::vector<std::string> all;
    EXPECT_TRUE(for_each_entry(segment, [&](std::uint64_t, std::span<const std::byte> bytes) {
      all.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return true;
    }));
    return all;
  }
  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
  }
  testing::Places places_;
};

TEST_F(InspectTest, ShowsAQueueWithoutTakingPart) {
  const Place place = places_.posix();
  auto queue = Queue::create(place, {});
  ASSERT_TRUE(queue);
  auto producer = queue->producer();
  for (const char* text : {"one", "two", ""}) {
    ASSERT_EQ(producer->push(bytes(text)), Push::pushed);
  }
  const auto there = Segment::open(place, Access::read_only);
  ASSERT_TRUE(there);
  EXPECT_EQ(fact(*there, "kind"), "queue");
  EXPECT_EQ(fact(*there, "messages"), "3");
  EXPECT_EQ(fact(*there, "consumer"), "none");
  EXPECT_EQ(entries(*there), (std::vector<std::string>{"one", "two", ""}));
  EXPECT_TRUE(verify(*there));
  queue->shape().header(0).store(std::uint64_t{1} << 32 | 5);
  EXPECT_EQ(verify(*there).error().code(), Errc::malformed);
}

TEST_F(InspectTest, ShowsABroadcastAndAnArray) {
  auto feed = Broadcast::create(Place::heap(), {});
  auto writer = feed->writer();
  ASSERT_TRUE(writer->push(bytes("news")));
  EXPECT_EQ(entries(feed->segment()), (std::vector<std::string>{"news"}));
  EXPECT_EQ(fact(feed->segment(), "messages"), "1 so far, from 0 on readable");
  EXPECT_TRUE(verify(feed->segment()));
  using Text = std::array<char, 12>;
  ArrayOptions options;
  options.count = 2;
  auto array = Array<Text>::create(Place::heap(), options);
  array->writer()->store(1, Text{'h', 'e', 'l', 'l', 'o'});
  EXPECT_EQ(entries(array->segment())[1], std::string("hello\0\0\0\0\0\0\0", 12));
  auto small = Array<char>::create(Place::heap(), options);
  small->writer()->store(1, 'x');
  EXPECT_EQ(entries(small->segment())[1], "x");
}

TEST_F(InspectTest, FindsSegmentsByName) {
  std::vector<Place> made = {places_.posix(), places_.sysv()};
  for (const Place& place : made) {
    Layout layout;
    layout.body_bytes = 8;
    ASSERT_TRUE(Segment::create(place, layout));
  }
  const auto found = find_segments();
  for (const Place& place : made) {
    EXPECT_NE(std::ranges::find(found, place.to_string(), &Place::to_string), found.end());
    EXPECT_EQ(for_each_entry(*Segment::open(place, Access::read_only), {}).error().code(),
              Errc::unsupported);
  }
}

}  // namespace
}  // namespace sennit::shm
