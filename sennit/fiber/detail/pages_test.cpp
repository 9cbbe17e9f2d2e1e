#include "sennit/fiber/detail/pages.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <vector>

namespace sennit::fiber::detail {
namespace {

class PagesTest : public ::testing::Test {
 protected:
  static constexpr std::size_t count = 600;  // More than go into one system call.
  void SetUp() override {
    void* const low = ::mmap(nullptr, 2 * count * page_bytes(), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(low, MAP_FAILED);
    for (std::size_t i = 0; i < count; ++i) {
      begins_.push_back(static_cast<std::byte*>(low) + 2 * i * page_bytes());
    }
  }
  void TearDown() override { ::munmap(begins_[0], 2 * count * page_bytes()); }
  std::size_t resident_count() {
    std::vector<unsigned char> resident(2 * count);
    EXPECT_EQ(::mincore(begins_[0], 2 * count * page_bytes(), resident.data()), 0);
    return static_cast<std::size_t>(std::ranges::count_if(resident, [](auto b) { return b & 1; }));
  }
  std::vector<std::byte*> begins_;
};
using PagesDeathTest = PagesTest;

TEST_F(PagesTest, RoundsUpToWholePages) {
  EXPECT_EQ(whole_pages(0), 0U);
  EXPECT_EQ(whole_pages(1), page_bytes());
  EXPECT_EQ(whole_pages(page_bytes()), page_bytes());
  EXPECT_EQ(whole_pages(page_bytes() + 1), 2 * page_bytes());
}

TEST_F(PagesTest, FillsAndDiscardsTheseRangesAndNoOthers) {
  populate({begins_, page_bytes()});
  const std::size_t filled = resident_count();
  EXPECT_TRUE(filled == count || filled == 0) << filled;  // Kernels before 5.14 do not fill.
  for (std::byte* const begin : begins_) *begin = std::byte{1};
  EXPECT_EQ(resident_count(), count);
  discard({begins_, page_bytes()});
  EXPECT_EQ(resident_count(), 0U);
  EXPECT_EQ(*begins_[5], std::byte{0});
}

TEST_F(PagesDeathTest, GuardsTheseRangesAndNoOthers) {
  ASSERT_TRUE(guard({begins_, page_bytes()}).has_value());
  for (std::byte* const begin : begins_) begin[page_bytes()] = std::byte{1};
  for (const std::size_t i : {std::size_t{0}, std::size_t{300}, count - 1}) {
    EXPECT_DEATH(*static_cast<volatile std::byte*>(begins_[i]) = std::byte{1}, "");
  }
}

}  // namespace
}  // namespace sennit::fiber::detail
