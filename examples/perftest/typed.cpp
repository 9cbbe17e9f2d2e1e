// One performance test per type: pushing to and popping from a std::queue.

#include <gtest/gtest.h>
#include <queue>
#include <vector>

#include "sennit/perftest/perftest.hpp"

template <class T>
class QueueTest : public testing::Test {
 protected:
  std::queue<T> queue_;
};

using QueueTestTypes = testing::Types<int, std::vector<char>>;
TYPED_TEST_SUITE(QueueTest, QueueTestTypes);

TYPED_TEST(QueueTest, PushPop) {
  this->queue_.push(TypeParam());
  this->queue_.pop();
}

TYPED_PERF_TEST(QueueTest, PushPopPerf) {
  this->queue_.push(TypeParam());
  this->queue_.pop();
}
