#include "sennit/runtime/file.hpp"

#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "sennit/runtime/activity.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"
#include "sennit/runtime/task.hpp"
#include "sennit/runtime/testing/backend_test.hpp"
#include "sennit/runtime/testing/seeds.hpp"
#include "sennit/runtime/testing/simulation.hpp"

namespace sennit::runtime {
namespace {

class FileTest : public testing::BackendTest {
 protected:
  ~FileTest() override { std::remove(path_.c_str()); }
  const std::string path_ =
      "/tmp/sennit-file-test-" + std::to_string(::getpid()) + ::testing::PrintToString(GetParam());
};

TEST_P(FileTest, NamesWhyItCannotBeOpened) {
  runtime().run([&] {
    const auto missing = wait(File::open(path_ + "/nowhere", FileMode::read));
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code(), Errc::not_found);
    EXPECT_EQ(missing.error().doing(), "open " + path_ + "/nowhere");
    EXPECT_TRUE(wait(File::open(path_, FileMode::create)).has_value());
    EXPECT_EQ(wait(File::open(path_, FileMode::create)).error().code(), Errc::already_exists);
  });
}

TEST_P(FileTest, ReadsWhatItHasWritten) {
  runtime().run([&] {
    auto file = wait(File::open(path_, FileMode::replace));
    ASSERT_TRUE(file.has_value()) << file.error().to_string();
    std::string text(3'000'000, '\0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 31 + i / 251);
    EXPECT_EQ(wait(file->write(text, 0)), text.size());
    EXPECT_TRUE(wait(file->sync()).has_value());
    std::string heard, room(700'000, '\0');
    for (;;) {
      const Result<std::size_t> bytes = wait(file->read(room, heard.size()));
      ASSERT_TRUE(bytes.has_value()) << bytes.error().to_string();
      if (*bytes == 0) break;
      heard.append(room, 0, *bytes);
    }
    EXPECT_TRUE(heard == text) << heard.size();
    EXPECT_EQ(wait(file->write("", 0)), 0U);
  });
}

TEST_P(FileTest, ServesManyCallsAtOnce) {
  runtime().run([&] {
    auto file = wait(File::open(path_, FileMode::read_write));
    Scope scope;
    for (int i = 0; i < 200; ++i) {
      scope.spawn([&, i]() -> Task<> {
        const std::string own = std::to_string(1000 + i);
        const auto at = static_cast<std::uint64_t>(i) * 4;
        co_await file->write(own, at);
        std::string room(4, '\0');
        const Result<std::size_t> bytes = co_await file->read(room, at);
        EXPECT_EQ(bytes, 4U);
        EXPECT_EQ(room, own);
      });
    }
    wait(scope.join());
  });
}

TEST_P(FileTest, EndsEveryCallThatIsCancelled) {
  runtime().run([&] {
    auto file = wait(File::open(path_, FileMode::read_write));
    wait(file->write("0123456789", 0));
    Scope scope;
    std::vector<Activity*> activities;
    int ended = 0;
    for (int i = 0; i < 100; ++i) {
      scope.spawn([&] {
        activities.push_back(&Activity::here());
        std::string room(10, '\0');
        const Result<std::size_t> bytes = wait(file->read(room, 0));
        if (bytes) {
          EXPECT_EQ(*bytes, 10U) << "the result came first";
        } else {
          EXPECT_EQ(bytes.error().code(), Errc::cancelled);
        }
        ++ended;
      });
    }
    wait(yield());
    for (Activity* const activity : activities) activity->cancel();
    wait(scope.join());
    EXPECT_EQ(ended, 100);
  });
}

SENNIT_FOR_EACH_BACKEND_AND_SIMULATED(FileTest);

// A small log that is synced before it is answered for: whatever the disk does, what was answered
// for is there after the power has failed.
TEST(FileSimulation, KeepsWhatWasSyncedUnderEveryFault) {
  testing::for_each_seed(300, [](std::uint64_t seed) {
    testing::Simulation sim({.seed = seed});
    simulated::DiskOptions bad;
    bad.short_transfer = 0.3;
    bad.error = 0.05;
    bad.capacity_bytes = 500;
    sim.files().set_disk(bad);
    std::string answered;
    sim.run([&] {
      auto file = wait(File::open("/log", FileMode::read_write));
      if (!file) return;
      for (int i = 0; i < 100; ++i) {
        const std::string line = std::to_string(i) + "\n";
        if (!wait(file->write(line, answered.size()))) return;
        if (!wait(file->sync())) return;
        answered += line;
      }
    });
    EXPECT_LE(answered.size(), 500U);
    sim.files().lose_unsynced("127.0.0.1");
    const std::string* const kept = sim.files().content("127.0.0.1", "/log");
    EXPECT_TRUE(kept == nullptr ? answered.empty() : kept->starts_with(answered));
  });
}

}  // namespace
}  // namespace sennit::runtime
