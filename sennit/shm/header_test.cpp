#include "sennit/shm/header.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace sennit::shm {
namespace {

struct HeaderTestNamed {
  static constexpr std::string_view shm_layout = "id:u32 size:u32";
  std::uint32_t id, size;
};
struct HeaderTestRenamed {
  static constexpr std::string_view shm_layout = "size:u32 id:u32";
  std::uint32_t size, id;
};

Layout header_test_layout() {
  Layout layout;
  layout.kind = Kind::array;
  layout.element_hash = element_hash<double>();
  layout.element_bytes = 8;
  layout.body_bytes = 800;
  layout.body_bytes_max = 8000;
  layout.geometry = {100, 2, 3};
  layout.label = "prices";
  return layout;
}

HeaderPage header_test_page() { return *make_header(header_test_layout(), WallTime(Duration(7))); }

TEST(Header, SaysWhatWasAskedFor) {
  const auto info = read_header(header_test_page(), 4896);
  ASSERT_TRUE(info) << info.error().to_string();
  EXPECT_EQ(info->kind, Kind::array);
  EXPECT_EQ(info->bytes, 4896u);
  EXPECT_EQ(info->bytes_max, 12096u);
  EXPECT_EQ(info->geometry[0], 100u);
  EXPECT_EQ(info->label, "prices");
  EXPECT_EQ(info->created, WallTime(Duration(7)));
  EXPECT_TRUE(info->is_clean);
  EXPECT_TRUE(expect(*info, header_test_layout()));
}

TEST(Header, RefusesLayoutsThatCannotBe) {
  Layout none = header_test_layout();
  none.kind = Kind::none;
  Layout above = header_test_layout();
  above.body_bytes = 9000;
  Layout vast = header_test_layout();
  vast.body_bytes_max = ~std::uint64_t{0};
  Layout wordy = header_test_layout();
  wordy.label = std::string(64, 'x');
  for (const Layout& layout : {none, above, vast, wordy}) {
    EXPECT_EQ(make_header(layout, {}).error().code(), Errc::invalid_argument);
  }
}

TEST(Header, NoticesEachFlippedByteOutsideTheWordsThatOwnersWrite) {
  const HeaderPage good = header_test_page();
  for (std::size_t at = 0; at < sizeof(good); ++at) {
    for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
      HeaderPage page = good;
      auto* byte = reinterpret_cast<unsigned char*>(&page) + at;
      *byte = static_cast<unsigned char>(*byte ^ flip);
      const auto info = read_header(page, 4896);
      const bool is_maker = at >= 72 && at < 88;
      const bool is_lease = at >= 128 && at < 256;
      const bool is_state = at == 64 && flip == 0x01;
      // The slot of the next extent: what an interrupted grow leaves there is ignored.
      const bool is_next = at >= 264 && at < 384;
      if (!is_maker && !is_lease && !is_state && !is_next) {
        ASSERT_FALSE(info) << at << " " << flip;
      }
      if (info && is_state) {
        EXPECT_FALSE(expect(*info, header_test_layout()));
      }
      if (info && (is_lease || is_next)) {
        EXPECT_TRUE(info->kind == Kind::array && info->bytes == 4896) << at;
      }
    }
  }
}

TEST(Header, RefusesASegmentThatWasCutOffAtAnyLength) {
  const HeaderPage page = header_test_page();
  for (std::uint64_t bytes = 0; bytes < 4896; ++bytes) EXPECT_FALSE(read_header(page, bytes));
  EXPECT_TRUE(read_header(page, 1'000'000)) << "more is what an interrupted grow leaves";
}

TEST(Header, NamesTheOtherVersionAndByteOrder) {
  HeaderPage newer = header_test_page();
  newer.identity.version = 2;
  EXPECT_EQ(read_header(newer, 4896).error().code(), Errc::unsupported);
  HeaderPage swapped = header_test_page();
  swapped.identity.byte_order = 0x04030201;
  EXPECT_EQ(read_header(swapped, 4896).error().code(), Errc::unsupported);
}

TEST(Header, TheLaterExtentCountsUnlessItIsUnfinished) {
  HeaderPage page = header_test_page();
  page.extents[0] = make_extent(2, 5096, {125});
  EXPECT_EQ(read_header(page, 9000)->geometry[0], 125u);
  page.extents[0].sequence = 0;
  EXPECT_EQ(read_header(page, 9000)->geometry[0], 100u);
  page.extents[0] = make_extent(3, 5096, {125});
  EXPECT_FALSE(read_header(page, 9000)) << "in the wrong slot";
}

TEST(Header, OtherElementsAreOtherHashes) {
  EXPECT_NE(element_hash<std::uint64_t>(), element_hash<std::int64_t>());
  EXPECT_NE(element_hash<std::uint64_t>(), element_hash<double>());
  EXPECT_NE(element_hash<HeaderTestNamed>(), element_hash<HeaderTestRenamed>());
  const Info info = *read_header(header_test_page(), 4896);
  Layout wanted = header_test_layout();
  wanted.element_hash = element_hash<std::uint64_t>();
  EXPECT_EQ(expect(info, wanted).error().code(), Errc::invalid_argument);
  wanted = header_test_layout();
  wanted.kind = Kind::queue;
  EXPECT_EQ(expect(info, wanted).error().code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace sennit::shm
