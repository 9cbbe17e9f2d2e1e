#include "sennit/shm/place.hpp"

#include <gtest/gtest.h>

namespace sennit::shm {
namespace {

TEST(Place, RefusesWhatNamesNoPlace) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {""sv, "posix"sv, "posix:"sv, "file:"sv, "sysv:"sv, "sysv:0"sv, "sysv:x"sv, "sysv:0x"sv,
        "sysv:0x1 "sv, "sysv:99999999999"sv, "tape:/dev/st0"sv, "POSIX:/a"sv, "file:/a\0b"sv}) {
    const auto place = Place::parse(text);
    ASSERT_FALSE(place) << text;
    EXPECT_EQ(place.error().code(), Errc::invalid_argument);
  }
}

TEST(Place, ReadsWhatItWrites) {
  for (const char* text : {"posix:/orders", "file:/tmp/a:b", "sysv:0x5e440001", "heap", "anonymous",
                           "sysv_huge:0xffffffff", "memfd:x"}) {
    const auto place = Place::parse(text);
    ASSERT_TRUE(place) << text;
    EXPECT_EQ(place->to_string(), text);
  }
  EXPECT_EQ(Place::parse("posix:orders")->to_string(), "posix:/orders");
  EXPECT_EQ(Place::parse("sysv:16")->key, 16);
}

}  // namespace
}  // namespace sennit::shm
