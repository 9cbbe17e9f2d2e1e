// One performance test per parameter: a std::unordered_map at three load factors.

#include <gtest/gtest.h>
#include <unordered_map>

#include "sennit/perftest/perftest.hpp"

class HashMapTest : public testing::TestWithParam<float> {
 protected:
  void SetUp() override {
    map_.max_load_factor(GetParam());
    for (int key = 0; key < 1000; ++key) map_.emplace(key, 1);
  }

  std::unordered_map<int, int> map_;
  int search_key_ = 0;
};

INSTANTIATE_TEST_SUITE_P(LoadFactor, HashMapTest, testing::Values(3.0F, 1.0F, 0.3F));

TEST_P(HashMapTest, Find) { ASSERT_NE(map_.find(999), map_.end()); }

PERF_TEST_P(HashMapTest, FindPerf) { sennit::perftest::do_not_optimize(map_.find(++search_key_)); }
