// Watching descriptors that belong to somebody else, on each backend.

#include <cerrno>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sennit/runtime/io/detail/testing/direct_backend.hpp"

namespace sennit::runtime::io::testing {
namespace {

using BackendWatchTest = DirectBackendTest;

struct WatchedPair {
  WatchedPair() {
    std::array<int, 2> ends{};
    SENNIT_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, errno);
    ours = Peer(ends[0]);
    theirs = Peer(ends[1]);
  }
  Peer ours, theirs;
};

TEST_P(BackendWatchTest, TellsWhenADescriptorIsReadableAndReadsNothing) {
  const WatchedPair pair;
  Recorder recorder;
  ASSERT_FALSE(backend().watch(recorder, pair.ours.get(), {.readable = true, .writable = false}));
  settle();
  EXPECT_FALSE(recorder.ended);
  pair.theirs.write("x");
  ASSERT_TRUE(poll_until_ended(recorder));
  EXPECT_EQ(recorder.final_result(), Backend::watched_readable);
  EXPECT_EQ(pair.ours.read_now(), "x");
  EXPECT_EQ(backend().socket_count(), 0U);
}

TEST_P(BackendWatchTest, TellsWhenADescriptorIsWritable) {
  const WatchedPair pair;
  Recorder recorder;
  ASSERT_FALSE(backend().watch(recorder, pair.ours.get(), {.readable = true, .writable = true}));
  ASSERT_TRUE(poll_until_ended(recorder));
  EXPECT_EQ(recorder.final_result(), Backend::watched_writable);
}

TEST_P(BackendWatchTest, CanBeRepeatedOnTheSameDescriptor) {
  const WatchedPair pair;
  for (int i = 0; i < 3; ++i) {
    Recorder recorder;
    ASSERT_FALSE(backend().watch(recorder, pair.ours.get(), {.readable = true, .writable = false}));
    pair.theirs.write("y");
    ASSERT_TRUE(poll_until_ended(recorder)) << i;
    EXPECT_EQ(pair.ours.read_now(), "y");
  }
}

TEST_P(BackendWatchTest, SeesAHangUpAsReadable) {
  WatchedPair pair;
  Recorder recorder;
  ASSERT_FALSE(backend().watch(recorder, pair.ours.get(), {.readable = true, .writable = false}));
  pair.theirs.close();
  ASSERT_TRUE(poll_until_ended(recorder));
  EXPECT_NE(recorder.final_result() & Backend::watched_readable, 0);
}

TEST_P(BackendWatchTest, EndsWithOneCompletionWhenCancelled) {
  const WatchedPair pair;
  Recorder recorder;
  ASSERT_FALSE(backend().watch(recorder, pair.ours.get(), {.readable = true, .writable = false}));
  settle();
  backend().cancel(recorder);
  backend().cancel(recorder);
  ASSERT_TRUE(poll_until_ended(recorder));
  EXPECT_EQ(recorder.final_result(), -ECANCELED);
  settle();
  EXPECT_EQ(recorder.completions, 1);
}

TEST_P(BackendWatchTest, RefusesADescriptorThatIsNotOpen) {
  int closed = -1;
  {
    const WatchedPair pair;
    closed = pair.ours.get();
  }
  Recorder recorder;
  if (backend().watch(recorder, closed, {.readable = true, .writable = false})) {
    recorder.done_at_once();
  }
  ASSERT_TRUE(poll_until_ended(recorder));
  EXPECT_EQ(recorder.final_result(), -EBADF);
}

SENNIT_FOR_EACH_BACKEND(BackendWatchTest);

}  // namespace
}  // namespace sennit::runtime::io::testing
