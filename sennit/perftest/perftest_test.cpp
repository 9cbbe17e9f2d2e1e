#include "sennit/perftest/perftest.hpp"

#include <algorithm>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <queue>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "sennit/perftest/detail/session.hpp"

// Each macro runs for a millisecond and must have called its body with what its form promises.

namespace sennit::perftest {
namespace {

int body_calls = 0;

PERF_TEST_OPT(PerfTest, CallsItsBody, -1, 1) { ++body_calls; }

PERF_TEST_OPT(PerfTest, EndsWhenAborted, 0, 60'000) {
  static int calls = 0;
  EXPECT_LE(++calls, 10);
  if (calls == 10) this->perf_abort();
}

// Run by tests/perftest/programs_test.py, which looks at what it prints.
PERF_TEST_OPT(PerfTest, DISABLED_FailsInItsTenthCall, 0, 60'000) {
  static int calls = 0;
  ASSERT_LT(++calls, 10) << PERF_ABORT;
}

PERF_TEST_WITH(PerfTest, KnowsItsThread, .time_ms = 1, .threads = 2) {
  if (perf_thread.index < 0 || perf_thread.index > 1 || perf_thread.count != 2) {
    ADD_FAILURE() << PERF_ABORT;
  }
}

class PerfFixture : public testing::Test {
 protected:
  void SetUp() override { numbers_ = {1, 2, 3}; }
  std::vector<int> numbers_;
};

TEST_F(PerfFixture, IsSharedWithTests) { EXPECT_EQ(numbers_.size(), 3U); }
PERF_TEST_F_OPT(PerfFixture, ReachesItsMembers, 0, 1) {
  ASSERT_EQ(numbers_.size(), 3U) << PERF_ABORT;
}
PERF_TEST_F_WITH(PerfFixture, TakesOptionsFromIt, .time_ms = 1,
                 .items_per_call = static_cast<double>(numbers_.size())) {
  do_not_optimize(numbers_[0]);
}

class PerfParameter : public testing::TestWithParam<float> {
 protected:
  void SetUp() override { map_.max_load_factor(GetParam()); }
  std::unordered_map<int, int> map_;
};
INSTANTIATE_TEST_SUITE_P(LoadFactor, PerfParameter, testing::Values(3.0F, 0.3F));

TEST_P(PerfParameter, IsSharedWithTests) { EXPECT_EQ(map_.max_load_factor(), GetParam()); }
PERF_TEST_P_OPT(PerfParameter, HasTheParameter, 0, 1) {
  ASSERT_EQ(map_.max_load_factor(), GetParam()) << PERF_ABORT;
}

template <class T>
class PerfTyped : public testing::Test {
 protected:
  std::queue<T> queue_;
};
using PerfTypes = testing::Types<int, std::string>;
TYPED_TEST_SUITE(PerfTyped, PerfTypes);

TYPED_TEST(PerfTyped, IsSharedWithTests) { EXPECT_TRUE(this->queue_.empty()); }
TYPED_PERF_TEST_OPT(PerfTyped, HasTheType, 0, 1) {
  static_assert(std::is_same_v<TestFixture, PerfTyped<TypeParam>>);
  this->queue_.push(TypeParam());
  this->queue_.pop();
}

template <class T>
class PerfTypedLater : public testing::Test {};
TYPED_PERF_TEST_CASE_P(PerfTypedLater);
TYPED_PERF_TEST_P_OPT(PerfTypedLater, HasTheType, 0, 1) { do_not_optimize(TypeParam()); }
TYPED_TEST_P(PerfTypedLater, IsSharedWithTests) { EXPECT_EQ(TypeParam(), TypeParam()); }
REGISTER_TYPED_PERF_TEST_CASE_P(PerfTypedLater, HasTheType, IsSharedWithTests);
INSTANTIATE_TYPED_PERF_TEST_CASE_P(My, PerfTypedLater, PerfTypes);

PERF_TEST_OPT(PerfTest, KeepsAFixedRate, 1000, 20) {}

const TestResult* find(const std::string& name) {
  const auto& tests = detail::session().report.tests;
  const auto found = std::ranges::find(tests, name, &TestResult::name);
  return found == tests.end() ? nullptr : &*found;
}

// What all of them left behind, once the last has ended.
class EveryForm : public testing::Environment {
  void TearDown() override {
    const testing::UnitTest& unit_test = *testing::UnitTest::GetInstance();
    if (unit_test.test_to_run_count() != unit_test.total_test_count()) return;  // Filtered.
    for (const char* const name :
         {"PerfTest.CallsItsBody", "PerfTest.KnowsItsThread", "PerfFixture.ReachesItsMembers",
          "LoadFactor/PerfParameter.HasTheParameter/0",
          "LoadFactor/PerfParameter.HasTheParameter/1", "PerfTyped/0.HasTheType",
          "PerfTyped/1.HasTheType", "My/PerfTypedLater/0.HasTheType",
          "My/PerfTypedLater/1.HasTheType"}) {
      SCOPED_TRACE(name);
      const TestResult* const test = find(name);
      ASSERT_NE(test, nullptr);
      EXPECT_GT(test->measurement.calls, 0U);
      EXPECT_FALSE(test->measurement.aborted);
    }
    ASSERT_NE(find("PerfTest.EndsWhenAborted"), nullptr);
    EXPECT_TRUE(find("PerfTest.EndsWhenAborted")->measurement.aborted);
    EXPECT_EQ(find("PerfFixture.TakesOptionsFromIt")->settings.items_per_call, 3);
    EXPECT_EQ(find("PerfTest.KeepsAFixedRate")->settings.hz, 1000);
    EXPECT_GT(body_calls, 0);
  }
};
[[maybe_unused]] const testing::Environment* const every_form =
    testing::AddGlobalTestEnvironment(new EveryForm);

}  // namespace
}  // namespace sennit::perftest
