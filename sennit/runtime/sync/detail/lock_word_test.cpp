#include "sennit/runtime/sync/detail/lock_word.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "sennit/runtime/sync/detail/testing/parties.hpp"

namespace sennit::runtime::detail {
namespace {

TEST(LockWord, KeepsTheOtherBitsWhileItIsLocked) {
  LockWord word(6);
  EXPECT_EQ(word.lock(), 6U);
  EXPECT_EQ(word.peek(), 6U | LockWord::locked);
  EXPECT_FALSE(word.try_change(6, 8)) << "not while it is locked";
  word.unlock(10);
  EXPECT_EQ(word.peek(), 10U);
  EXPECT_FALSE(word.try_change(6, 8));
  EXPECT_TRUE(word.try_change(10, 8));
  EXPECT_EQ(word.peek(), 8U);
}

// Plain data changed under the lock by threads, while others count in the word without it.
TEST(LockWord, ExcludesThreadsAndLosesNoChange) {
  const int rounds = testing::scaled(20'000);
  constexpr int threads = 4;
  LockWord word;
  std::uint64_t plain = 0;
  {
    std::vector<std::jthread> members;
    for (int thread = 0; thread < threads; ++thread) {
      members.emplace_back([&] {
        for (int i = 0; i < rounds; ++i) {
          const auto bits = word.lock();
          ++plain;
          word.unlock(bits + 2);
          for (;;) {
            const auto seen = word.peek();
            if ((seen & LockWord::locked) == 0 && word.try_change(seen, seen + 2)) break;
          }
        }
      });
    }
  }
  EXPECT_EQ(plain, static_cast<std::uint64_t>(threads * rounds));
  EXPECT_EQ(word.peek(), 4 * plain);
}

}  // namespace
}  // namespace sennit::runtime::detail
