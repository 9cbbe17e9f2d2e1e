#include "sennit/runtime/generator.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

#include "sennit/runtime/detail/testing/manual_worker.hpp"

namespace sennit::runtime {
namespace {

Generator<int> count_to(int n, std::shared_ptr<int> = nullptr) {
  for (int i = 1; i <= n; ++i) co_yield i;
}

std::vector<int> collected(Generator<int> generator) {
  std::vector<int> all;
  for (const int each : generator) all.push_back(each);
  return all;
}

TEST(Generator, GivesEachElementInOrder) {
  EXPECT_EQ(collected(count_to(3)), (std::vector{1, 2, 3}));
  EXPECT_EQ(collected(count_to(0)), std::vector<int>());
}

TEST(Generator, GivesReferencesAndWhatOnlyMoves) {
  std::vector<std::string> texts = {"a", "b"};
  const auto each_of = [](std::vector<std::string>& list) -> Generator<std::string&> {
    for (std::string& text : list) co_yield text;
  };
  for (std::string& text : each_of(texts)) text += "!";
  EXPECT_EQ(texts, (std::vector<std::string>{"a!", "b!"}));

  const auto pointers = []() -> Generator<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    co_yield std::make_unique<int>(2);
  };
  int sum = 0;
  for (auto& pointer : pointers()) sum += *std::unique_ptr<int>(std::move(pointer));
  EXPECT_EQ(sum, 3);
}

TEST(Generator, MayBeLeftBeforeItsEnd) {
  const auto held = std::make_shared<int>();
  {
    auto generator = count_to(1'000'000'000, held);
    for (const int each : generator) {
      if (each == 3) break;
    }
    EXPECT_EQ(held.use_count(), 2);
  }
  {
    const auto never_begun = count_to(1, held);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Generator, ThrowsWhatItsBodyThrows) {
  const auto failing = []() -> Generator<int> {
    co_yield 1;
    throw std::runtime_error("after one");
  };
  int seen = 0;
  const auto go_through = [&] {
    for (const int each : failing()) seen += each;
  };
  EXPECT_THROW(go_through(), std::runtime_error);
  EXPECT_EQ(seen, 1);
}

TEST(GeneratorDeathTest, StopsWhenItIsGoneThroughTwice) {
  auto generator = count_to(2);
  (void)generator.begin();
  EXPECT_DEATH((void)generator.begin(), "gone through once");
}

class GeneratorOnWorker : public testing::ManualWorkerTest {};

TEST_F(GeneratorOnWorker, TakesItsFrameFromTheWorker) {
  run([] { EXPECT_EQ(collected(count_to(100)).back(), 100); });
}

}  // namespace
}  // namespace sennit::runtime
