#include "sennit/base/buffer.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "sennit/base/random.hpp"

namespace sennit {
namespace {

TEST(Buffer, OwnsNothingUntilWrittenTo) {
  Buffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.capacity(), 0U);
  EXPECT_EQ(buffer.view(), "");
}

TEST(Buffer, GivesBackWhatWasAppendedInOrder) {
  Buffer buffer;
  buffer.append("hello ");
  buffer.append("world");
  EXPECT_EQ(buffer.view(), "hello world");
  buffer.consume(6);
  EXPECT_EQ(buffer.view(), "world");
  buffer.push_back('!');
  EXPECT_EQ(buffer.view(), "world!");
}

TEST(Buffer, TakesBytesWrittenIntoPreparedRoom) {
  Buffer buffer;
  const auto room = buffer.prepare(1000);
  ASSERT_GE(room.size(), 1000U);
  std::memcpy(room.data(), "abc", 3);
  buffer.commit(3);
  EXPECT_EQ(buffer.view(), "abc");
}

TEST(Buffer, KeepsItsMemoryOnClearAndFreesItOnRelease) {
  Buffer buffer;
  buffer.append("x");
  const std::size_t capacity = buffer.capacity();
  buffer.clear();
  EXPECT_EQ(buffer.capacity(), capacity);
  buffer.release();
  EXPECT_EQ(buffer.capacity(), 0U);
}

TEST(Buffer, LeavesAMovedFromOneEmpty) {
  Buffer first;
  first.append("x");
  Buffer second = std::move(first);
  EXPECT_EQ(second.view(), "x");
  EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move)
  first.append("y");
  second = std::move(first);
  EXPECT_EQ(second.view(), "y");
}

// Model test: any sequence of operations behaves as on a std::string.
TEST(Buffer, BehavesAsAStringUnderRandomOperations) {
  Random random(1);
  Buffer buffer;
  std::string model;
  for (int i = 0; i < 20'000; ++i) {
    switch (random.below(3)) {
      case 0: {
        const std::string text(random.below(300), static_cast<char>('a' + random.below(26)));
        buffer.append(text);
        model += text;
        break;
      }
      case 1: {
        const std::size_t bytes = random.below(100);
        const auto room = buffer.prepare(bytes);
        std::memset(room.data(), 'z', bytes);
        buffer.commit(bytes);
        model.append(bytes, 'z');
        break;
      }
      default: {
        const std::size_t bytes = random.below(buffer.size() + 1);
        buffer.consume(bytes);
        model.erase(0, bytes);
      }
    }
    ASSERT_EQ(buffer.view(), model);
  }
}

TEST(BufferDeathTest, RefusesToConsumeMoreThanItHolds) {
  Buffer buffer;
  buffer.append("ab");
  EXPECT_DEATH(buffer.consume(3), "bytes <= size");
}

}  // namespace
}  // namespace sennit
