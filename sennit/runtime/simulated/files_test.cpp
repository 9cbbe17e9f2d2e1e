#include "sennit/runtime/simulated/files.hpp"

#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>

#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::runtime::simulated {
namespace {

class SimulatedFilesTest : public ::testing::Test {
 protected:
  struct Unused : io::FileOperation {
    Unused() : FileOperation([](io::Operation&, const io::Completion&) {}) {}
  };
  using Call = io::FileOperation::Call;

  int open(const char* path, int flags) {
    Unused operation;
    operation.call = Call::open;
    operation.path = path;
    operation.flags = flags;
    return files().call("a", operation);
  }
  int write(int descriptor, std::string_view data, std::uint64_t offset) {
    Unused operation;
    operation.call = Call::write;
    operation.descriptor = descriptor;
    operation.data = data;
    operation.offset = offset;
    return files().call("a", operation);
  }
  /// What it read, or the negated errno in words.
  std::string read(int descriptor, std::size_t bytes, std::uint64_t offset) {
    std::string room(bytes, '\0');
    Unused operation;
    operation.call = Call::read;
    operation.descriptor = descriptor;
    operation.room = room;
    operation.offset = offset;
    const int result = files().call("a", operation);
    if (result < 0) return "!" + std::to_string(-result);
    return room.substr(0, static_cast<std::size_t>(result));
  }
  int sync(int descriptor) {
    Unused operation;
    operation.call = Call::sync;
    operation.descriptor = descriptor;
    return files().call("a", operation);
  }
  Files& files() { return kernel_.files(); }

  Kernel kernel_{{.seed = 3}};
};

TEST_F(SimulatedFilesTest, SaysWhyAFileCannotBeOpened) {
  EXPECT_EQ(open("/x", O_RDONLY), -ENOENT);
  const int descriptor = open("/x", O_RDWR | O_CREAT | O_EXCL);
  EXPECT_GT(descriptor, 0);
  EXPECT_EQ(open("/x", O_RDWR | O_CREAT | O_EXCL), -EEXIST);
  files().close(descriptor);
  EXPECT_EQ(read(descriptor, 1, 0), "!" + std::to_string(EBADF));
  EXPECT_EQ(sync(descriptor), -EBADF);
  EXPECT_EQ(write(open("/x", O_RDONLY), "x", 0), -EBADF);
  EXPECT_EQ(read(open("/x", O_WRONLY), 1, 0), "!" + std::to_string(EBADF));
}

TEST_F(SimulatedFilesTest, KeepsWhatWasWritten) {
  const int descriptor = open("/x", O_RDWR | O_CREAT);
  EXPECT_EQ(write(descriptor, "world", 6), 5);
  EXPECT_EQ(write(descriptor, "hello ", 0), 6);
  EXPECT_EQ(read(descriptor, 100, 0), "hello world");
  EXPECT_EQ(read(descriptor, 3, 6), "wor");
  EXPECT_EQ(read(descriptor, 3, 11), "");
  const int appending = open("/x", O_WRONLY | O_APPEND);
  EXPECT_EQ(write(appending, "!", 0), 1);
  EXPECT_EQ(*files().content("a", "/x"), "hello world!");
  EXPECT_EQ(files().content("b", "/x"), nullptr) << "another machine";
  open("/x", O_RDWR | O_TRUNC);
  EXPECT_EQ(read(descriptor, 100, 0), "");
}

TEST_F(SimulatedFilesTest, LosesWhatWasNotSyncedWhenThePowerFails) {
  const int descriptor = open("/x", O_RDWR | O_CREAT);
  const int never = open("/y", O_RDWR | O_CREAT);
  write(descriptor, "safe", 0);
  EXPECT_EQ(sync(descriptor), 0);
  write(descriptor, "lost", 0);
  write(never, "lost", 0);
  files().lose_unsynced("b");
  EXPECT_EQ(read(descriptor, 100, 0), "lost");
  files().lose_unsynced("a");
  EXPECT_EQ(read(descriptor, 100, 0), "safe");
  EXPECT_EQ(files().content("a", "/y"), nullptr);
}

TEST_F(SimulatedFilesTest, FillsUp) {
  files().set_disk({.capacity_bytes = 10});
  const int descriptor = open("/x", O_RDWR | O_CREAT);
  const int other = open("/y", O_RDWR | O_CREAT);
  EXPECT_EQ(write(descriptor, "1234567", 0), 7);
  EXPECT_EQ(write(other, "1234567", 0), 3) << "what there was room for";
  EXPECT_EQ(write(other, "4567", 3), -ENOSPC);
  EXPECT_EQ(write(other, "abc", 0), 3) << "in place there is room";
}

TEST_F(SimulatedFilesTest, FailsAndDoesPartsAtTheirProbabilities) {
  const int descriptor = open("/x", O_RDWR | O_CREAT);
  files().set_disk({.short_transfer = 0.5, .error = 0.25});
  int failed = 0, cut = 0;
  for (int i = 0; i < 1000; ++i) {
    const int result = write(descriptor, "0123456789", 0);
    EXPECT_TRUE(result == -EIO || (result > 0 && result <= 10)) << result;
    failed += result == -EIO ? 1 : 0;
    cut += result > 0 && result < 10 ? 1 : 0;
  }
  EXPECT_GT(failed, 150);
  EXPECT_LT(failed, 350);
  EXPECT_GT(cut, 250);
}

}  // namespace
}  // namespace sennit::runtime::simulated
