// What a test can ask for beyond that: threads, percentiles, bytes per second, allocations, and a
// comparison that holds on a noisy machine.

#include <atomic>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "sennit/perftest/count_allocations.hpp"  // In one file of the program.
#include "sennit/perftest/perftest.hpp"

using sennit::perftest::do_not_optimize;

class CopyTest : public testing::Test {
 protected:
  std::vector<char> from_ = std::vector<char>(4096, 'x'), to_ = std::vector<char>(4096);
};

PERF_TEST_F_WITH(CopyTest, Copy4K, .latency = true,
                 .bytes_per_call = static_cast<double>(from_.size())) {
  std::memcpy(to_.data(), from_.data(), from_.size());
}

PERF_TEST(StringTest, Concatenate) {
  do_not_optimize(std::string("a text that is too long for ") + "the small string buffer");
}

// From two threads at once: what sharing one counter costs.
PERF_TEST_WITH(AtomicTest, SharedCounter, .threads = 2) {
  static std::atomic<int> counter = 0;
  ++counter;
}

TEST(LookupTest, HashingBeatsATreeOfAThousand) {
  std::map<int, int> tree;
  std::unordered_map<int, int> table;
  for (int key = 0; key < 1000; ++key) tree[key] = table[key] = key;
  int key = 0;
  const auto in_table = [&] { return table.find(key = (key + 7) % 1000) != table.end(); };
  const auto in_tree = [&] { return tree.find(key = (key + 7) % 1000) != tree.end(); };
  EXPECT_FASTER(in_table, in_tree, 1.2);
}
