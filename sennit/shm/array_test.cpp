#include "sennit/shm/array.hpp"

#include <gtest/gtest.h>

#include "sennit/shm/testing/places.hpp"

namespace sennit::shm {
namespace {

struct ArrayTestQuote {
  static constexpr std::string_view shm_layout = "bid:f64 ask:f64 size:u32";
  double bid = 0, ask = 0;
  std::uint32_t size = 0;
  bool operator==(const ArrayTestQuote&) const = default;
};

class ArrayTest : public ::testing::Test {
 protected:
  static ArrayOptions options(std::uint64_t count, std::uint64_t count_max = 0) {
    ArrayOptions made;
    made.count = count;
    made.count_max = count_max;
    return made;
  }
  testing::Places places_;
};

TEST_F(ArrayTest, WhatIsStoredIsReadElsewhere) {
  const Place place = places_.posix();
  auto made = Array<ArrayTestQuote>::create(place, options(100));
  ASSERT_TRUE(made) << made.error().to_string();
  auto writer = made->writer();
  ASSERT_TRUE(writer);
  const auto there = Array<ArrayTestQuote>::open(place, Access::read_only);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->count(), 100u);
  EXPECT_EQ(there->load(99), ArrayTestQuote{});
  writer->store(99, {1.5, 1.75, 3});
  EXPECT_EQ(there->load(99), (ArrayTestQuote{1.5, 1.75, 3}));
  EXPECT_EQ(made->writer().error().code(), Errc::already_exists);
}

TEST_F(ArrayTest, ElementsOfAnotherLayoutAreRefused) {
  const Place place = places_.posix();
  ASSERT_TRUE(Array<std::uint32_t>::create(place, options(10)));
  EXPECT_EQ(Array<float>::open(place, Access::read_only).error().code(), Errc::invalid_argument);
  EXPECT_EQ(Array<std::uint64_t>::open(place, Access::read_only).error().code(),
            Errc::invalid_argument);
  EXPECT_TRUE(Array<std::uint32_t>::open(place, Access::read_only));
}

TEST_F(ArrayTest, GrowsAndOthersSeeItWhenTheyLook) {
  const Place place = places_.file();
  auto made = Array<std::uint16_t>::create(place, options(10, 1'000'000));
  ASSERT_TRUE(made);
  auto writer = made->writer();
  auto there = Array<std::uint16_t>::open(place, Access::read_only);
  writer->store(9, 7);
  ASSERT_TRUE(made->grow(1'000'000));
  writer->store(999'999, 8);
  ASSERT_TRUE(there->refresh());
  EXPECT_EQ(there->load(9), 7);
  EXPECT_EQ(there->load(999'999), 8);
  EXPECT_EQ(made->grow(1'000'001).error().code(), Errc::limit_reached);
}

TEST_F(ArrayTest, RefusesACountThatTheBodyDoesNotHold) {
  Layout layout = detail::array_layout(options(8), 8, element_hash<double>(), 8);
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{9}, ~std::uint64_t{0}, (std::uint64_t{1} << 61) + 8}) {
    layout.geometry = {count};
    EXPECT_EQ(Array<double>::from(Segment::create(Place::heap(), layout)).error().code(),
              Errc::malformed);
  }
  EXPECT_FALSE(Array<double>::create(Place::heap(), options(~std::uint64_t{0})));
}

TEST_F(ArrayTest, ASeqlockIsAnArrayOfOne) {
  const Place place = places_.posix();
  auto made = Seqlock<ArrayTestQuote>::create(place);
  ASSERT_TRUE(made);
  auto writer = made->writer();
  ASSERT_TRUE(writer);
  writer->store({1, 2, 3});
  EXPECT_EQ((Seqlock<ArrayTestQuote>::open(place, Access::read_only)->load()),
            (ArrayTestQuote{1, 2, 3}));
}

TEST_F(ArrayTest, AnIndexBeyondTheEndStopsTheProgram) {
  auto made = Array<int>::create(Place::heap(), options(3));
  ASSERT_TRUE(made);
  EXPECT_DEATH(static_cast<void>(made->load(3)), "index < ");
}

}  // namespace
}  // namespace sennit::shm
