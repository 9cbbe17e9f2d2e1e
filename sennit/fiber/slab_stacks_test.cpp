#include "sennit/fiber/slab_stacks.hpp"

#include <array>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "sennit/fiber/detail/pages.hpp"
#include "sennit/fiber/stack.hpp"

namespace sennit::fiber {
namespace {

constexpr std::size_t usable_bytes = std::size_t{64} * 1024;

/// Stacks that go back when it dies.
class SlabLoan {
 public:
  SlabLoan(SlabStacks& slabs, std::size_t count, std::size_t bytes = usable_bytes)
      : slabs_(slabs), bytes_(bytes) {
    while (stacks_.size() < count) {
      std::vector<std::byte*> room(count - stacks_.size());
      auto made = slabs.allocate(bytes, room);
      EXPECT_TRUE(made.has_value() && *made > 0 && *made <= room.size());
      if (!made) return;
      stacks_.insert(stacks_.end(), room.begin(), room.begin() + static_cast<long>(*made));
    }
  }
  ~SlabLoan() { slabs_.deallocate(bytes_, stacks_); }
  SlabLoan(const SlabLoan&) = delete;
  SlabLoan& operator=(const SlabLoan&) = delete;
  [[nodiscard]] const std::vector<std::byte*>& stacks() const { return stacks_; }

 private:
  SlabStacks& slabs_;
  const std::size_t bytes_;
  std::vector<std::byte*> stacks_;
};

TEST(SlabStacks, MakesStacksThatCanBeWrittenFromEndToEndAndDoNotOverlap) {
  SlabStacks slabs;
  const SlabLoan loan(slabs, 100);
  for (std::size_t i = 0; i < 100; ++i) {
    std::memset(loan.stacks()[i], static_cast<int>(i), usable_bytes);
  }
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_EQ(loan.stacks()[i][0], std::byte(i));
    ASSERT_EQ(loan.stacks()[i][usable_bytes - 1], std::byte(i));
  }
}

TEST(SlabStacks, PutsManyStacksIntoFewSlabsAndUnmapsThem) {
  SlabStacks slabs;
  {
    const SlabLoan loan(slabs, 2000, 16384);
    EXPECT_LT(slabs.slab_count(), 12U);
  }
  EXPECT_EQ(slabs.slab_count(), 0U);
}

TEST(SlabStacks, AreAnOddNumberOfPagesApart) {
  SlabStacks slabs;
  for (const std::size_t pages : {1, 2, 16, 17}) {
    const std::size_t bytes = pages * detail::page_bytes();
    const SlabLoan loan(slabs, 2, bytes);
    const auto distance = std::abs(loan.stacks()[1] - loan.stacks()[0]);
    EXPECT_EQ(static_cast<std::size_t>(distance) / detail::page_bytes() % 2, 1U) << pages;
  }
}

TEST(SlabStacks, LendsAStackThatCameBackWithoutItsOldContents) {
  SlabStacks slabs;
  const SlabLoan others(slabs, 1);  // Keeps the slab.
  std::array<std::byte*, 1> room{};
  ASSERT_TRUE(slabs.allocate(usable_bytes, room).has_value());
  std::byte* const low = room[0];
  low[0] = std::byte{1};
  slabs.deallocate(usable_bytes, room);
  ASSERT_TRUE(slabs.allocate(usable_bytes, room).has_value());
  EXPECT_EQ(room[0], low);
  EXPECT_EQ(low[0], std::byte{0});
  slabs.deallocate(usable_bytes, room);
}

TEST(SlabStacks, SayOutOfMemoryWhenTheKernelRefuses) {
  SlabStacks slabs;
  std::array<std::byte*, 1> room{};
  for (const int bits : {47, 60, 63}) {
    const auto refused = slabs.allocate(std::size_t{1} << bits, room);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), Errc::out_of_memory);
  }
  EXPECT_EQ(slabs.slab_count(), 0U);
}

TEST(SlabStacks, AreMappingsOfTheirOwnIfWanted) {
  SlabStacks slabs({.slab_stacks_max = 1});
  const SlabLoan loan(slabs, 3);
  EXPECT_EQ(slabs.slab_count(), 3U);
}

TEST(SlabStacks, LieSideBySideOnHugePages) {
  SlabStacks slabs({.huge_pages = true});
  const SlabLoan loan(slabs, 100, 4096);
  for (std::size_t i = 0; i < 100; ++i) {
    std::memset(loan.stacks()[i], static_cast<int>(i), 4096);
    ASSERT_EQ(loan.stacks()[i] - loan.stacks()[0], static_cast<long>(i * 4096));
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(loan.stacks()[0]) % (2 << 20), 0U);
}

TEST(SlabStacks, ServeSeveralThreads) {
  SlabStacks slabs;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&slabs, thread] {
      for (int round = 0; round < 20; ++round) {
        const SlabLoan loan(slabs, 30, 16384);
        for (std::byte* const low : loan.stacks()) low[100] = std::byte(thread);
        for (std::byte* const low : loan.stacks()) ASSERT_EQ(low[100], std::byte(thread));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(slabs.slab_count(), 0U);
}

// The promise of the header's diagram: one byte below a stack is not accessible.
TEST(SlabStacksDeathTest, FaultJustBelowEachStack) {
  SlabStacks slabs;
  const SlabLoan loan(slabs, 40, detail::page_bytes());
  for (const std::size_t i : {0, 1, 17, 39}) {
    volatile std::byte* lowest = loan.stacks()[i];
    *lowest = std::byte{1};
    EXPECT_DEATH(*(lowest - 1) = std::byte{1}, "");
  }
}

// A guard must outlive the pages of its stack.
TEST(SlabStacksDeathTest, FaultBelowAStackThatIsLentAgain) {
  SlabStacks slabs;
  const SlabLoan others(slabs, 1);
  {
    const SlabLoan loan(slabs, 2);
  }
  const SlabLoan again(slabs, 2);
  volatile std::byte* lowest = again.stacks()[0];
  EXPECT_DEATH(*(lowest - 1) = std::byte{1}, "");
}

}  // namespace
}  // namespace sennit::fiber
