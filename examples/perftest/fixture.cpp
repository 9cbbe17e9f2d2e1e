// A fixture shared by tests and performance tests: looking up in a std::map.

#include <gtest/gtest.h>
#include <map>

#include "sennit/perftest/perftest.hpp"

class StdMapTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int key = 0; key < 1000; ++key) map_.emplace(key, 1);
  }

  std::map<int, int> map_;
  int search_key_ = 0;
};

TEST_F(StdMapTest, Find) { ASSERT_NE(map_.find(999), map_.end()); }

// Most keys searched for are not there: the counter soon leaves the thousand behind.
PERF_TEST_F(StdMapTest, FindPerf) { sennit::perftest::do_not_optimize(map_.find(++search_key_)); }
