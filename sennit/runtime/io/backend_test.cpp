// Sockets, accepting and waking, on each backend, and which backend is chosen.

#include "sennit/runtime/io/backend.hpp"

#include <cerrno>
#include <cstddef>
#include <fmt/core.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <thread>

#include "sennit/runtime/io/detail/testing/direct_backend.hpp"

namespace sennit::runtime::io {
namespace {

using testing::DirectBackendTest;
using testing::Peer;
using testing::Recorder;

class BackendTest : public DirectBackendTest {};
using BackendDeathTest = BackendTest;

// --- Sockets ------------------------------------------------------------------------------------

TEST_P(BackendTest, RefusesADescriptorThatIsNone) {
  const auto refused = backend().adopt(1'000'000);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().os_error(), EBADF);
  EXPECT_EQ(backend().socket_count(), 0U);
}

TEST_P(BackendTest, ClosesTheDescriptorOfAnIdleSocket) {
  auto [socket, peer] = make_pair();
  const int descriptor = backend().descriptor(socket);
  EXPECT_GE(::fcntl(descriptor, F_GETFD), 0);
  backend().close(socket);
  EXPECT_EQ(backend().socket_count(), 0U);
  settle();
  EXPECT_LT(::fcntl(descriptor, F_GETFD), 0);
  EXPECT_TRUE(peer.at_end());
}

TEST_P(BackendTest, GivesEveryOperationItsLastCompletionBeforeItCloses) {
  auto [socket, peer] = make_pair();
  const int descriptor = backend().descriptor(socket);
  Recorder receiving, sending;
  const std::string bytes(4'000'000, 'x');
  backend().receive(receiving, socket);
  send(sending, socket, bytes);
  settle();
  backend().close(socket);
  EXPECT_GE(::fcntl(descriptor, F_GETFD), 0) << "operations are in flight";
  ASSERT_TRUE(poll_until([&] { return receiving.ended && sending.ended; }));
  EXPECT_EQ(receiving.final_result(), -ECANCELED);
  EXPECT_EQ(sending.final_result(), -ECANCELED);
  EXPECT_EQ(backend().socket_count(), 0U);
  settle();
  EXPECT_LT(::fcntl(descriptor, F_GETFD), 0);
}

// What was queued but never polled for must not outlive the backend.
TEST_P(BackendTest, LeavesNoDescriptorBehind) {
  auto [closed, closed_peer] = make_pair();
  auto [open, open_peer] = make_pair();
  backend().close(closed);
  make({});
  EXPECT_TRUE(closed_peer.at_end());
  EXPECT_TRUE(open_peer.at_end());
}

TEST_P(BackendTest, LeavesNoDescriptorBehindWhenItDiesOnAnotherThread) {
  Peer closed_peer, open_peer;
  std::unique_ptr<Backend> elsewhere;
  std::thread([&] {
    elsewhere = *make_backend(GetParam(), {});
    const auto hand_over = [&](Peer& peer) {
      std::array<int, 2> ends{};
      SENNIT_ASSERT(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
      peer = Peer(ends[1]);
      return *elsewhere->adopt(ends[0]);
    };
    elsewhere->close(hand_over(closed_peer));
    hand_over(open_peer);
  }).join();
  elsewhere.reset();
  EXPECT_TRUE(closed_peer.at_end());
  EXPECT_TRUE(open_peer.at_end());
}

TEST_P(BackendTest, NeverUsesAGenerationTwice) {
  std::vector<Socket> seen;
  for (int i = 0; i < 100; ++i) {
    auto [socket, peer] = make_pair();
    for (const Socket before : seen) ASSERT_FALSE(socket == before);
    seen.push_back(socket);
    close_all({socket});
  }
  EXPECT_EQ(seen.back().slot, seen.front().slot) << "slots are reused";
}

TEST_P(BackendDeathTest, StopsAtMisuse) {
  struct Case {
    const char* message;
    std::function<void(Socket, Socket)> misuse;  // An open socket and a stale one.
  };
  Recorder one, other;
  const Case cases[] = {
      {"is_current", [&](Socket, Socket stale) { backend().receive(one, stale); }},
      {"is_current", [&](Socket, Socket stale) { send(one, stale, "x"); }},
      {"is_current", [&](Socket, Socket stale) { backend().close(stale); }},
      {"is_current", [&](Socket, Socket) { backend().close(Socket{}); }},
      {"writer == nullptr",
       [&](Socket open, Socket) {
         const std::string bytes(4'000'000, 'x');
         send(one, open, bytes);
         backend().shut_down_writing(open);
       }},
      {"closing",
       [&](Socket open, Socket) {
         backend().receive(one, open);
         backend().close(open);
         backend().close(open);
       }},
      {"nullptr",
       [&](Socket open, Socket) {
         backend().receive(one, open);
         backend().receive(other, open);
       }},
      {"in_flight",
       [&](Socket open, Socket) {
         Recorder dies_too_early;
         backend().receive(dies_too_early, open);
       }},
  };
  for (const auto& [message, misuse] : cases) {
    const auto in_child = [&, act = misuse] {
      make_in_child();
      auto [stale, stale_peer] = make_pair();
      close_all({stale});
      auto [open, open_peer] = make_pair();
      act(open, stale);
    };
    EXPECT_DEATH(in_child(), message);
  }
}

// --- Accepting ----------------------------------------------------------------------------------

TEST_P(BackendTest, AcceptsABurstWhole) {
  make({.receive_buffers = 2, .receive_buffer_bytes = 1024, .accept_burst = 8});
  sockaddr_in address{};
  const Socket listener = adopt(tcp_listener(address, 1000).release());
  Recorder accepting;
  backend().accept(accepting, listener);
  settle();
  std::vector<Peer> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(tcp_client(address));
  ASSERT_TRUE(poll_until([&] { return accepting.accepted == 200; }));
  EXPECT_TRUE(accepting.in_flight());
  backend().cancel(accepting);
  ASSERT_TRUE(poll_until_ended(accepting));
  EXPECT_EQ(accepting.final_result(), -ECANCELED);
  close_all({listener});
}

TEST_P(BackendTest, LosesNoConnectionHoweverAcceptAndCancelRace) {
  sockaddr_in address{};
  const Socket listener = adopt(tcp_listener(address, 1000).release());
  Recorder accepting;
  std::vector<Peer> clients;
  for (int i = 0; i < 100; ++i) {
    accepting.ended = false;
    backend().accept(accepting, listener);
    if (i % 3 == 0) backend().poll(Duration::zero());
    clients.push_back(tcp_client(address));
    if (i % 2 == 0) backend().poll(Duration::zero());
    backend().cancel(accepting);
    ASSERT_TRUE(poll_until_ended(accepting));
  }
  accepting.ended = false;
  backend().accept(accepting, listener);
  EXPECT_TRUE(poll_until([&] { return accepting.accepted == 100; })) << accepting.accepted;
  close_all({listener});
}

TEST_P(BackendTest, EndsAnAcceptThatIsNoListener) {
  auto [socket, peer] = make_pair();
  Recorder accepting;
  peer.write("readable");
  backend().accept(accepting, socket);
  ASSERT_TRUE(poll_until_ended(accepting));
  EXPECT_TRUE(accepting.final_result() == -EINVAL || accepting.final_result() == -EOPNOTSUPP)
      << accepting.final_result();
  close_all({socket});
}

// In a process of its own, whose limit it lowers.
TEST_P(BackendDeathTest, EndsAnAcceptWithoutDescriptorsAndCanStartItAgain) {
  const auto body = [&] {
    make_in_child();
    sockaddr_in address{};
    const Socket listener = adopt(tcp_listener(address, 100).release());
    const Peer client = tcp_client(address);
    const int lowest_free = ::dup(0);
    ::close(lowest_free);
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit lowered{.rlim_cur = static_cast<rlim_t>(lowest_free), .rlim_max = limit.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &lowered);
    Recorder accepting;
    backend().accept(accepting, listener);
    // Sparingly: a sanitizer that is about to look at something new needs descriptors itself.
    for (int i = 0; i < 100 && !accepting.ended; ++i) {
      backend().poll(std::chrono::milliseconds(20));
    }
    const bool ended = accepting.ended;
    const int result = accepting.final_result();
    ::setrlimit(RLIMIT_NOFILE, &limit);
    accepting.ended = false;
    backend().accept(accepting, listener);
    const bool taken = poll_until([&] { return accepting.accepted == 1; });
    fmt::print(stderr, "ended: {} {}, taken: {}\n", ended, result == -EMFILE, taken);
    ::_exit(0);
  };
  EXPECT_EXIT(body(), ::testing::ExitedWithCode(0), "ended: true true, taken: true");
}

// --- Waiting and waking -------------------------------------------------------------------------

TEST_P(BackendTest, ReturnsFromPollWhenTheTimeIsUp) {
  for (const Duration timeout : {Duration(0), Duration(1), Duration(2'000'000)}) {
    backend().poll(timeout);  // Hangs if not.
  }
  EXPECT_EQ(backend().socket_count(), 0U);
}

TEST_P(BackendTest, EndsThePollThatWaitsOrTheNextWhenWoken) {
  for (int i = 0; i < 50; ++i) {
    std::thread waker([&] {
      if (i % 2 == 0) std::this_thread::yield();
      backend().wake();
    });
    if (i % 3 == 0) waker.join();
    backend().poll(Duration::max());  // Hangs if the wake-up is lost.
    if (waker.joinable()) waker.join();
  }
  backend().wake();
  backend().wake();
  backend().poll(Duration::max());
}

SENNIT_FOR_EACH_BACKEND(BackendTest);
SENNIT_FOR_EACH_BACKEND(BackendDeathTest);

// --- Choosing -----------------------------------------------------------------------------------

TEST(BackendChoice, KnowsItsNames) {
  EXPECT_EQ(backend_kind_from_name("kqueue").error().to_string(),
            "choose an I/O backend: 'kqueue' is none of auto, uring, epoll: invalid argument");
  EXPECT_EQ(backend_kind_from_name("").error().code(), Errc::invalid_argument);
  EXPECT_EQ(backend_kind_from_name("auto"), BackendKind::automatic);
  EXPECT_EQ(backend_kind_from_name("uring"), BackendKind::uring);
  EXPECT_EQ(backend_kind_from_name("epoll"), BackendKind::epoll);
}

TEST(BackendChoice, TakesWhatIsAskedFor) {
  const auto choice = choose_backend(BackendKind::epoll);
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(choice->kind, BackendKind::epoll);
  EXPECT_EQ(choice->reason, "asked for");
}

/// Makes io_uring_setup fail with `os_error` for the rest of this process, as containers do.
void refuse_uring(int os_error) {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(os_error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(instructions), .filter = instructions};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  SENNIT_ASSERT(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, errno);
}

TEST(BackendChoiceDeathTest, FallsBackToEpollAndSaysWhy) {
  struct Case {
    int os_error;
    const char* automatic;
    const char* by_name;
  };
  for (const auto& [os_error, automatic, by_name] : {
           Case{EPERM, "io_uring is not available: set up an io_uring: permission denied .EPERM",
                "use io_uring .set up an io_uring: permission denied .EPERM.*not supported here"},
           Case{ENOSYS, "io_uring is not available: set up an io_uring: not supported .*ENOSYS",
                "use io_uring .set up an io_uring: not supported here .ENOSYS.*not supported here"},
       }) {
    const auto choose = [refusal = os_error](BackendKind wanted) {
      refuse_uring(refusal);
      const auto choice = choose_backend(wanted);
      fmt::print(stderr, "{} {}\n", choice.has_value() && choice->kind == BackendKind::epoll,
                 choice ? choice->reason : choice.error().to_string());
      ::_exit(choice.has_value() ? 0 : 1);
    };
    const std::string automatic_says = std::string("true ") + automatic;
    EXPECT_EXIT(choose(BackendKind::automatic), ::testing::ExitedWithCode(0), automatic_says);
    EXPECT_EXIT(choose(BackendKind::uring), ::testing::ExitedWithCode(1), by_name);
  }
}

}  // namespace
}  // namespace sennit::runtime::io
