#include "sennit/fiber/stack_pool.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sennit::fiber {
namespace {

const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

TEST(StackPool, RoundsTheStackSizeUpToWholePages) {
  struct Case {
    std::size_t asked_bytes, given_bytes;
  };
  for (const auto& [asked_bytes, given_bytes] : {
           Case{1, page_bytes},
           Case{page_bytes - 1, page_bytes},
           Case{page_bytes, page_bytes},
           Case{page_bytes + 1, 2 * page_bytes},
       }) {
    SCOPED_TRACE(asked_bytes);
    StackPool pool({.usable_bytes = asked_bytes});
    EXPECT_EQ(pool.usable_bytes(), given_bytes);
    EXPECT_EQ(pool.acquire()->memory().size(), given_bytes);
  }
}

TEST(StackPool, GivesMemoryThatCanBeWrittenFromEndToEnd) {
  StackPool pool({.usable_bytes = 16 * 1024});
  auto lent = pool.acquire();
  ASSERT_TRUE(lent.has_value());
  std::memset(lent->memory().data(), 0x5a, lent->memory().size());
}

TEST(StackPool, LendsTheStackReturnedLast) {
  StackPool pool({});
  const std::byte* returned_last = nullptr;
  {
    auto first = pool.acquire();
    auto second = pool.acquire();
    returned_last = first->memory().data();  // Locals die in reverse: `first` goes back last.
  }
  EXPECT_EQ(pool.acquire()->memory().data(), returned_last);
}

TEST(StackPool, RefusesBeyondItsLimitAndRecovers) {
  StackPool pool({.on_loan_max = 1});
  {
    auto only = pool.acquire();
    ASSERT_TRUE(only.has_value());
    auto refused = pool.acquire();
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), Errc::limit_reached);
    EXPECT_EQ(pool.on_loan_count(), 1U);
  }
  EXPECT_TRUE(pool.acquire().has_value());
}

TEST(StackPool, SaysOutOfMemoryWhenTheKernelRefuses) {
  StackPool pool({.usable_bytes = std::size_t{1} << 60});
  auto refused = pool.acquire();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::out_of_memory);
  EXPECT_EQ(pool.on_loan_count(), 0U);
}

TEST(StackPool, KeepsAtMostIdleMaxStacks) {
  StackPool pool({.idle_max = 1});
  {
    auto first = pool.acquire();
    auto second = pool.acquire();
  }
  EXPECT_EQ(pool.idle_count(), 1U);
  EXPECT_EQ(pool.on_loan_count(), 0U);
}

TEST(StackPool, ReturnsAMovedStackOnce) {
  StackPool pool({});
  {
    auto lent = pool.acquire();
    const Stack moved = std::move(*lent);
    EXPECT_EQ(pool.on_loan_count(), 1U);
  }
  EXPECT_EQ(pool.on_loan_count(), 0U);
  EXPECT_EQ(pool.idle_count(), 1U);
}

// The promise of the header's diagram: one byte below the stack is not writable.
TEST(StackPoolDeathTest, FaultsJustBelowTheStack) {
  StackPool pool({});
  auto lent = pool.acquire();
  volatile std::byte* lowest = lent->memory().data();
  *lowest = std::byte{1};
  EXPECT_DEATH(*(lowest - 1) = std::byte{1}, "");
}

}  // namespace
}  // namespace sennit::fiber
