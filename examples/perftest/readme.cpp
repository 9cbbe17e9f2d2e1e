// Tests and performance tests of one thing: the file that sennit/perftest/README.md shows.

#include <map>
#include <unordered_map>

#include "sennit/perftest/perftest.hpp"
#include "sennit/perftest/rounds.hpp"

class PhoneBook : public testing::Test {
 protected:
  PhoneBook() {
    for (int i = 0; i < 1000; ++i) table_[i] = tree_[i] = i;
  }
  std::unordered_map<int, int> table_;
  std::map<int, int> tree_;
  int key_ = 0;
};

TEST_F(PhoneBook, KnowsAll) { EXPECT_TRUE(table_.contains(999)); }

PERF_TEST_F(PhoneBook, Find) { sennit::perftest::do_not_optimize(table_.find(++key_ % 1000)); }

PERF_TEST_F_WITH(PhoneBook, FindFromTwoThreads, .threads = 2, .latency = true) {
  sennit::perftest::do_not_optimize(table_.find(perf_thread.index));
}

TEST_F(PhoneBook, TableBeatsTree) {
  const auto in_table = [&] { return table_.find(++key_ % 1000) != table_.end(); };
  const auto in_tree = [&] { return tree_.find(++key_ % 1000) != tree_.end(); };
  EXPECT_FASTER(in_table, in_tree, 1.2);  // Passes, fails, or says that it cannot tell.

  sennit::perftest::Rounds rounds;  // The same as numbers, for the report.
  rounds.add("tree", in_tree);
  rounds.add("table", in_table);
  rounds.run();
}
