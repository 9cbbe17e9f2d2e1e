#include "sennit/runtime/detail/group.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>

#include "sennit/runtime/sync/detail/testing/waiters.hpp"

namespace sennit::runtime::detail {
namespace {

/// Ends when it is told to, and writes down what it is asked.
struct ScriptedBranch {
  bool is_ready = false, starts = true;
  std::string calls;
  Waiter* waiter = nullptr;

  bool ready() {
    calls += "r";
    return is_ready;
  }
  bool start(Waiter& w) {
    calls += "s";
    waiter = &w;
    return starts;
  }
  void cancel() { calls += "c"; }
  void take() {}
};

class GroupTest : public ::testing::Test {
 protected:
  bool start(std::size_t needed) {
    for (std::size_t i = 0; i < 3; ++i) branches_[i].bind(scripted_[i]);
    return group_.start(waiter_, branches_, needed);
  }
  [[nodiscard]] std::string calls() const {
    return scripted_[0].calls + " " + scripted_[1].calls + " " + scripted_[2].calls;
  }
  // Lets it run its jobs.
  int end(std::size_t i) {
    scripted_[i].waiter->wake();
    return waiter_.wakes();
  }
  std::array<ScriptedBranch, 3> scripted_;
  std::array<Branch, 3> branches_;
  Group group_;
  testing::CountingWaiter waiter_;
};

TEST_F(GroupTest, WaitsForAll) {
  scripted_[1].starts = false;
  EXPECT_TRUE(start(3));
  EXPECT_EQ(end(2), 0);
  EXPECT_EQ(end(0), 1);
  EXPECT_EQ(calls(), "rs rs rs") << "nothing is cancelled";
  EXPECT_EQ(group_.first(), 1U);
}

TEST_F(GroupTest, CancelsOnceWhatRunsAndWaitsForItWhenEnoughHaveEnded) {
  EXPECT_TRUE(start(1));
  EXPECT_EQ(end(1), 0);
  EXPECT_EQ(calls(), "rsc rs rsc");
  EXPECT_EQ(end(2), 0);
  EXPECT_EQ(end(0), 1);
  EXPECT_EQ(calls(), "rsc rs rsc");
  EXPECT_EQ(group_.first(), 1U);
}

TEST_F(GroupTest, BeginsNothingBehindWhatWasEnough) {
  scripted_[1].is_ready = true;
  EXPECT_TRUE(start(1));
  EXPECT_EQ(calls(), "rsc r ");
  EXPECT_FALSE(branches_[2].has_ended());
  EXPECT_EQ(end(0), 1);
  EXPECT_TRUE(branches_[0].has_ended());
}

TEST_F(GroupTest, NeedNotWaitIfAllEndsAtOnce) {
  scripted_[0].is_ready = scripted_[1].is_ready = true;
  scripted_[2].starts = false;
  EXPECT_FALSE(start(3));
  EXPECT_EQ(group_.first(), 0U);
  EXPECT_FALSE(start(0));
}

TEST_F(GroupTest, CancelsEachThatRunsWhenItIsCancelled) {
  scripted_[0].is_ready = true;
  EXPECT_TRUE(start(3));
  group_.cancel();
  EXPECT_EQ(calls(), "r rsc rsc");
  EXPECT_EQ(end(1), 0);
  EXPECT_EQ(end(2), 1);
}

}  // namespace
}  // namespace sennit::runtime::detail
