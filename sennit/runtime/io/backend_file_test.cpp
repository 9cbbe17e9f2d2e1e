// Calls on files, on each backend with descriptors, and more at once than a queue holds.

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <fmt/core.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "sennit/runtime/io/detail/testing/direct_backend.hpp"

namespace sennit::runtime::io {
namespace {

using testing::DirectBackendTest;

/// A read, and what became of it.
class FileRead : public FileOperation {
 public:
  FileRead()
      : FileOperation([](Operation& operation, const Completion& completion) {
          auto& self = static_cast<FileRead&>(operation);
          EXPECT_FALSE(completion.more);
          ++self.completions;
          self.final_result = completion.result;
        }) {}
  int completions = 0;
  int final_result = 1 << 30;
};

class BackendFileTest : public DirectBackendTest {
 protected:
  void SetUp() override {
    DirectBackendTest::SetUp();
    file_ = testing::Peer(::memfd_create("backend-file-test", MFD_CLOEXEC));
    ASSERT_EQ(::write(file_.get(), "0123456789", 10), 10);
  }
  void start(FileRead& read, std::span<char> room, std::uint64_t offset) {
    read.descriptor = file_.get();
    read.room = room;
    read.offset = offset;
    backend().file(read);
  }
  testing::Peer file_;
  std::array<char, 10> room_{};
};
using BackendFileDeathTest = BackendFileTest;

TEST_P(BackendFileTest, SaysWhatTheKernelSays) {
  FileRead bad, end, good;
  bad.descriptor = -1;
  bad.room = room_;
  backend().file(bad);
  start(end, room_, 10);
  start(good, room_, 4);
  EXPECT_EQ(good.completions, 0) << "completions come from poll()";
  ASSERT_TRUE(
      poll_until([&] { return bad.completions + end.completions + good.completions == 3; }));
  EXPECT_EQ(bad.final_result, -EBADF);
  EXPECT_EQ(end.final_result, 0);
  EXPECT_EQ(good.final_result, 6);
  EXPECT_EQ(std::string_view(room_.data(), 6), "456789");
}

// 4 GiB, whose lower 32 bits are none, must not look like the end of the file.
TEST_P(BackendFileTest, ReadsIntoARoomOf4GiB) {
  const std::size_t bytes = std::size_t{4} << 30;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no address space for 4 GiB";
  FileRead read;
  start(read, {static_cast<char*>(memory), bytes}, 0);
  ASSERT_TRUE(poll_until([&] { return read.completions == 1; }));
  EXPECT_EQ(read.final_result, 10);
  ::munmap(memory, bytes);
}

TEST_P(BackendFileTest, TakesMoreAtOnceThanItsQueueHolds) {
  constexpr int count = 5000;
  std::vector<FileRead> reads(count);
  std::vector<std::array<char, 10>> rooms(reads.size());  // Of each, as several threads read.
  for (std::size_t i = 0; i < reads.size(); ++i) start(reads[i], rooms[i], 9);
  ASSERT_TRUE(poll_until([&] {
    return std::ranges::all_of(reads, [](const FileRead& read) { return read.completions == 1; });
  }));
  for (const FileRead& read : reads) ASSERT_EQ(read.final_result, 1);
}

TEST_P(BackendFileTest, EndsWhatIsCancelledOnce) {
  std::vector<FileRead> reads(200);
  std::vector<std::array<char, 10>> rooms(reads.size());  // Of each, as several threads read.
  for (std::size_t i = 0; i < reads.size(); ++i) start(reads[i], rooms[i], 0);
  for (FileRead& read : reads) {
    backend().cancel(read);
    backend().cancel(read);
  }
  ASSERT_TRUE(poll_until([&] {
    return std::ranges::all_of(reads, [](const FileRead& read) { return !read.in_flight(); });
  }));
  for (const FileRead& read : reads) {
    EXPECT_EQ(read.completions, 1);
    EXPECT_TRUE(read.final_result == 10 || read.final_result == -ECANCELED) << read.final_result;
  }
}

// The kernel refuses submissions without memory, or while completions overflow. In a process of its
// own, where every io_uring_enter fails from some point on.
TEST_P(BackendFileDeathTest, SurvivesThatTheKernelTakesNoSubmissions) {
  for (const int os_error : {EBUSY, EAGAIN}) {
    const auto body = [&] {
      make_in_child();
      sock_filter instructions[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_enter, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(os_error)),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      const sock_fprog program{.len = std::size(instructions), .filter = instructions};
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
      SENNIT_ASSERT(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, errno);
      std::vector<FileRead> reads(3000);
      std::vector<std::array<char, 10>> rooms(reads.size());  // Of each, as several threads read.
      for (std::size_t i = 0; i < reads.size(); ++i) start(reads[i], rooms[i], 0);
      for (int i = 0; i < 5; ++i) backend().poll(std::chrono::milliseconds(1));
      fmt::print(stderr, "still here\n");
      ::_exit(0);
    };
    EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), "still here");
  }
}

SENNIT_FOR_EACH_BACKEND(BackendFileTest);
SENNIT_FOR_EACH_BACKEND(BackendFileDeathTest);

}  // namespace
}  // namespace sennit::runtime::io
