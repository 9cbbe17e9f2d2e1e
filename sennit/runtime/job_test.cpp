#include "sennit/runtime/job.hpp"

#include <array>
#include <gtest/gtest.h>
#include <memory>
#include <thread>
#include <vector>

namespace sennit::runtime {
namespace {

struct Numbered : Job {
  explicit Numbered(int n, int from = 0) : Job([](Job&) {}), number(n), thread(from) {}
  int number;
  int thread;
};

TEST(JobQueue, KeepsTheOrder) {
  Numbered one(1), two(2);
  JobQueue queue;
  EXPECT_TRUE(queue.empty());
  queue.push(one);
  queue.push(two);
  EXPECT_EQ(&queue.pop(), &one);
  queue.push(one);
  EXPECT_EQ(&queue.pop(), &two);
  EXPECT_EQ(&queue.pop(), &one);
  EXPECT_TRUE(queue.empty());
}

TEST(JobQueue, TakesAnotherWholeAndLooksAhead) {
  Numbered one(1), two(2), three(3);
  JobQueue from, to;
  to.take(from);
  EXPECT_TRUE(to.empty());
  from.push(one);
  from.push(two);
  to.take(from);
  EXPECT_TRUE(from.empty());
  from.push(three);
  EXPECT_EQ(JobQueue::behind_by(to.front(), 0), &one);
  EXPECT_EQ(JobQueue::behind_by(to.front(), 1), &two);
  EXPECT_EQ(JobQueue::behind_by(to.front(), 2), nullptr);
  EXPECT_EQ(&to.pop(), &one);
  EXPECT_EQ(&to.pop(), &two);
  EXPECT_EQ(&from.pop(), &three);
  EXPECT_EQ(JobQueue::behind_by(to.front(), 1), nullptr);
}

TEST(Mailbox, TellsThePosterToWakeASleeperOnce) {
  Numbered one(1), two(2);
  Mailbox mailbox;
  EXPECT_FALSE(mailbox.post(one));
  EXPECT_FALSE(mailbox.prepare_to_sleep()) << "a job is there already";
  JobQueue queue;
  mailbox.take_all(queue);
  queue.pop();
  EXPECT_TRUE(mailbox.prepare_to_sleep());
  EXPECT_TRUE(mailbox.post(one));
  EXPECT_FALSE(mailbox.post(two)) << "it has been woken";
}

// Each thread's jobs arrive whole and in that thread's order, whatever the interleaving.
TEST(Mailbox, LosesNothingAndKeepsEachThreadsOrder) {
  constexpr int threads = 3, jobs_each = 20'000;
  std::vector<std::vector<std::unique_ptr<Numbered>>> jobs(threads);
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < jobs_each; ++i) jobs[t].push_back(std::make_unique<Numbered>(i, t));
  }
  Mailbox mailbox;
  std::vector<std::jthread> posters;
  for (int t = 0; t < threads; ++t) {
    posters.emplace_back([&, t] {
      for (auto& job : jobs[t]) mailbox.post(*job);
    });
  }
  std::array<int, threads> expected{};
  JobQueue queue;
  for (int taken = 0; taken < threads * jobs_each;) {
    mailbox.take_all(queue);
    if (queue.empty()) std::this_thread::yield();
    while (!queue.empty()) {
      auto& job = static_cast<Numbered&>(queue.pop());
      ASSERT_EQ(job.number, expected.at(job.thread)++);
      ++taken;
    }
  }
}

}  // namespace
}  // namespace sennit::runtime
