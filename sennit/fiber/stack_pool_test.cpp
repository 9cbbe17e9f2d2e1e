#include "sennit/fiber/stack_pool.hpp"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "sennit/fiber/detail/pages.hpp"
#include "sennit/fiber/slab_stacks.hpp"

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
  for (auto lent : {pool.acquire().value().memory(), pool.acquire(1 << 20).value().memory()}) {
    std::memset(lent.data(), 0x5a, lent.size());
  }
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

/// Lends, and returns all at once.
class Loans {
 public:
  explicit Loans(StackPool& pool) : pool_(pool) {}
  void take(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      auto lent = pool_.acquire();
      ASSERT_TRUE(lent.has_value()) << lent.error().to_string();
      stacks_.push_back(*std::move(lent));
    }
  }
  void give_back_all() { stacks_.clear(); }

 private:
  StackPool& pool_;
  std::vector<Stack> stacks_;
};

constexpr Duration interval = std::chrono::seconds(10);
const StackPool::Options small_stacks = {.usable_bytes = 16 * 1024, .interval = interval};

TEST(StackPool, KeepsWhatTheLastIntervalNeededAndGivesBackTheRest) {
  StackPool pool(small_stacks);
  TimePoint now(std::chrono::seconds(100));
  pool.trim(now);
  Loans loans(pool);
  loans.take(300);
  loans.give_back_all();
  const std::size_t grown = pool.idle_count();
  EXPECT_GE(grown, 300U);

  pool.trim(now += interval);  // The interval that needed them has ended: they are kept for one.
  EXPECT_EQ(pool.idle_count(), 300U);
  loans.take(40);
  loans.give_back_all();
  pool.trim(now + interval / 2);
  EXPECT_EQ(pool.idle_count(), 300U);

  for (int turn = 0; turn < 3; ++turn) pool.trim(now + interval);  // In bounded portions.
  EXPECT_EQ(pool.idle_count(), 40U);
  pool.trim(now + 2 * interval);
  EXPECT_EQ(pool.idle_count(), 0U);
  EXPECT_EQ(pool.statistics().given_back_total, grown);
}

TEST(StackPool, GivesNothingBackThatThisIntervalNeeds) {
  StackPool pool(small_stacks);
  TimePoint now(std::chrono::seconds(100));
  pool.trim(now);
  pool.trim(now += interval);  // Nothing was needed so far.
  Loans loans(pool);
  loans.take(10);
  loans.give_back_all();
  pool.trim(now + interval / 2);
  EXPECT_GE(pool.idle_count(), 10U);
}

TEST(StackPool, GivesBackAtMostAPortionAtATime) {
  StackPool pool(small_stacks);
  TimePoint now(std::chrono::seconds(100));
  pool.trim(now);
  Loans loans(pool);
  loans.take(1000);
  loans.give_back_all();
  pool.trim(now += interval);
  const std::size_t kept = pool.idle_count();
  pool.trim(now += interval);
  EXPECT_GE(pool.idle_count(), kept - 300);
  for (int turn = 0; turn < 10; ++turn) pool.trim(now);  // Also within the interval.
  EXPECT_EQ(pool.idle_count(), 0U);
}

TEST(StackPool, SaysWhenToBeTrimmedNext) {
  StackPool pool(small_stacks);
  TimePoint now(std::chrono::seconds(100));
  pool.trim(now);
  EXPECT_EQ(pool.next_trim(), TimePoint::max());
  Loans loans(pool);
  loans.take(1000);
  EXPECT_EQ(pool.next_trim(), now + interval);
  loans.give_back_all();
  pool.trim(now += interval);
  EXPECT_EQ(pool.next_trim(), now + interval);
  pool.trim(now += interval);
  EXPECT_LT(pool.next_trim(), now) << "it is not done yet";
  for (int turn = 0; turn < 10; ++turn) pool.trim(now);
  EXPECT_EQ(pool.next_trim(), TimePoint::max());
}

TEST(StackPool, HasClassesOfOtherSizes) {
  StackPool pool({.usable_bytes = 6 * page_bytes});
  struct Case {
    std::size_t asked_bytes, given_bytes;
  };
  for (const auto& [asked_bytes, given_bytes] : {
           Case{1, page_bytes},
           Case{page_bytes + 1, 2 * page_bytes},
           Case{4 * page_bytes, 4 * page_bytes},
           Case{5 * page_bytes, 6 * page_bytes},
           Case{6 * page_bytes, 6 * page_bytes},
           Case{7 * page_bytes, 8 * page_bytes},
           Case{100 * page_bytes, 128 * page_bytes},
       }) {
    SCOPED_TRACE(asked_bytes);
    EXPECT_EQ(pool.acquire(asked_bytes)->memory().size(), given_bytes);
    EXPECT_EQ(pool.on_loan_count(), 0U);
  }
  const auto refused = pool.acquire(SIZE_MAX);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::out_of_memory);
}

TEST(StackPool, LendsAgainWithinAClass) {
  StackPool pool({});
  const std::byte* const low = pool.acquire(1 << 20)->memory().data();
  EXPECT_NE(pool.acquire()->memory().data(), low);
  EXPECT_EQ(pool.acquire(1 << 20)->memory().data(), low);
}

TEST(StackPool, KeepsToItsLimitOfBytesByGivingBackWhatIsIdleElsewhere) {
  StackPool pool({.usable_bytes = 64 * 1024, .bytes_max = 128 * 1024});
  {
    auto first = pool.acquire();
    auto second = pool.acquire();
    ASSERT_TRUE(second.has_value());
    auto refused = pool.acquire();
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), Errc::limit_reached);
  }
  auto large = pool.acquire(128 * 1024);
  ASSERT_TRUE(large.has_value()) << large.error().to_string();
  EXPECT_EQ(pool.idle_count(), 0U);
  EXPECT_EQ(pool.statistics().bytes, 128U * 1024);
}

TEST(StackPool, CountsWhatItDoes) {
  StackPool pool({.usable_bytes = 16 * 1024, .on_loan_max = 2});
  {
    auto first = pool.acquire();
    auto second = pool.acquire();
    EXPECT_FALSE(pool.acquire().has_value());
    EXPECT_EQ(pool.statistics().on_loan_count, 2U);
  }
  EXPECT_TRUE(pool.acquire().has_value());
  const StackPool::Statistics statistics = pool.statistics();
  EXPECT_EQ(statistics.on_loan_count, 0U);
  EXPECT_EQ(statistics.on_loan_max_seen, 2U);
  EXPECT_EQ(statistics.idle_count, 2U);
  EXPECT_EQ(statistics.bytes, 2U * 16 * 1024);
  EXPECT_EQ(statistics.lent_total, 3U);
  EXPECT_EQ(statistics.made_total, 2U);
  EXPECT_EQ(statistics.given_back_total, 0U);
  EXPECT_EQ(statistics.refused_total, 1U);
}

TEST(StackPool, TakesItsStacksFromASharedAllocator) {
  const auto slabs = std::make_shared<SlabStacks>();
  {
    StackPool first({.allocator = slabs}), second({.allocator = slabs});
    EXPECT_TRUE(first.acquire().has_value());
    EXPECT_TRUE(second.acquire().has_value());
    EXPECT_EQ(slabs->slab_count(), 1U);
  }
  EXPECT_EQ(slabs->slab_count(), 0U);
}

TEST(StackPool, SaysWhatItsAllocatorRefuses) {
  std::vector<std::byte> memory(3 * 16 * 1024);
  StackPool pool(
      {.usable_bytes = 16 * 1024, .allocator = std::make_shared<CallerStacks>(memory, 16 * 1024)});
  Loans loans(pool);
  loans.take(2);
  auto refused = pool.acquire(1 << 20);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::limit_reached);
  EXPECT_EQ(pool.on_loan_count(), 2U);
}

// Two mappings a stack would be 200,000, which no process may have.
TEST(StackPool, LendsAHundredThousandStacksFromFewMappings) {
  if (!detail::has_light_guards()) GTEST_SKIP() << "this kernel has no light guards";
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);) ++count;
    return count;
  };
  const std::size_t before = mappings();
  StackPool pool(
      {.usable_bytes = 2 * page_bytes,
       .on_loan_max = 100'000,
       .allocator = std::make_shared<SlabStacks>(SlabStacks::Options{.fills_first_pages = false})});
  Loans loans(pool);
  loans.take(100'000);
  EXPECT_EQ(pool.on_loan_count(), 100'000U);
  EXPECT_LT(mappings() - before, 1000U);
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
