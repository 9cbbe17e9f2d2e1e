#include "sennit/base/intrusive_list.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace sennit {
namespace {

struct Item : ListHook<Item> {
  explicit Item(int n) : number(n) {}
  int number;
};

std::vector<int> numbers(IntrusiveList<Item>& list) {
  std::vector<int> found;
  for (Item& item : list) found.push_back(item.number);
  return found;
}

void drain(IntrusiveList<Item>& list) {
  while (!list.empty()) list.pop_front();
}

TEST(IntrusiveList, KeepsTheOrderOfBothEnds) {
  Item one(1), two(2), three(3);
  IntrusiveList<Item> list;
  list.push_back(two);
  list.push_back(three);
  list.push_front(one);
  EXPECT_EQ(numbers(list), (std::vector{1, 2, 3}));
  EXPECT_EQ(list.count(), 3U);
  EXPECT_EQ(list.pop_front().number, 1);
  EXPECT_EQ(list.front().number, 2);
  drain(list);
}

TEST(IntrusiveList, LetsAnElementUnlinkItselfFromAnywhere) {
  Item one(1), two(2), three(3);
  IntrusiveList<Item> list;
  for (Item* item : {&one, &two, &three}) list.push_back(*item);
  two.unlink();
  EXPECT_FALSE(two.is_linked());
  EXPECT_EQ(numbers(list), (std::vector{1, 3}));
  drain(list);
}

TEST(IntrusiveList, AllowsUnlinkingTheCurrentElementWhileIterating) {
  Item one(1), two(2), three(3);
  IntrusiveList<Item> list;
  for (Item* item : {&one, &two, &three}) list.push_back(*item);
  for (Item& item : list) {
    if (item.number != 2) item.unlink();
  }
  EXPECT_EQ(numbers(list), (std::vector{2}));
  drain(list);
}

TEST(IntrusiveList, SplicesAnotherBehindItsOwn) {
  Item one(1), two(2);
  IntrusiveList<Item> list, other;
  list.push_back(one);
  other.push_back(two);
  list.splice_back(other);
  EXPECT_TRUE(other.empty());
  EXPECT_EQ(numbers(list), (std::vector{1, 2}));
  drain(list);
}

TEST(IntrusiveListDeathTest, RefusesToLinkTwiceOrToDieLinked) {
  EXPECT_DEATH(
      {
        Item item(1);
        IntrusiveList<Item> list;
        list.push_back(item);
        list.push_back(item);
      },
      "is_linked");
  EXPECT_DEATH(
      {
        IntrusiveList<Item> list;
        Item item(1);
        list.push_back(item);
      },
      "is_linked");
}

}  // namespace
}  // namespace sennit
