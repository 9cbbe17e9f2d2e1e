// Receiving and cancelling, on each backend: the rules of backend.hpp as a reader meets them.

#include <thread>

#include "sennit/base/random.hpp"
#include "sennit/runtime/io/detail/testing/direct_backend.hpp"

namespace sennit::runtime::io {
namespace {

using testing::DirectBackendTest;
using testing::pattern;
using testing::Peer;
using testing::Recorder;

class BackendReceiveTest : public DirectBackendTest {};

TEST_P(BackendReceiveTest, SaysHowAStreamEnded) {
  enum class Ending { reset, closed, half_closed };
  struct Case {
    Ending ending;
    std::string sent;
    int result;
  };
  for (const auto& [ending, sent, result] : {
           Case{Ending::reset, "", -ECONNRESET},
           Case{Ending::closed, "", 0},
           Case{Ending::closed, "all of this", 0},
           Case{Ending::half_closed, "", 0},
           Case{Ending::half_closed, pattern(200'000), 0},
       }) {
    SCOPED_TRACE(sent.size());
    auto [socket, peer] = make_tcp_pair();
    Recorder receiving;
    backend().receive(receiving, socket);
    settle();
    peer.write(sent);
    if (ending == Ending::half_closed) ::shutdown(peer.get(), SHUT_WR);
    if (ending == Ending::reset) {
      const linger at_once{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(peer.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    if (ending != Ending::half_closed) peer.close();
    ASSERT_TRUE(poll_until_ended(receiving));
    EXPECT_EQ(receiving.final_result(), result);
    EXPECT_EQ(receiving.bytes, sent);
    close_all({socket});
  }
}

TEST_P(BackendReceiveTest, CompletesOnlyInsidePoll) {
  auto [socket, peer] = make_pair();
  peer.write("early");
  settle();
  Recorder receiving;
  backend().receive(receiving, socket);
  EXPECT_EQ(receiving.completions, 0);
  ASSERT_TRUE(poll_until([&] { return receiving.bytes == "early"; }));
  backend().cancel(receiving);
  EXPECT_FALSE(receiving.ended);
  EXPECT_TRUE(receiving.in_flight());
  ASSERT_TRUE(poll_until_ended(receiving));
  close_all({socket});
}

TEST_P(BackendReceiveTest, DeliversWhatComesWhileItGoesOn) {
  auto [socket, peer] = make_pair();
  Recorder receiving;
  backend().receive(receiving, socket);
  for (int i = 0; i < 100; ++i) {
    peer.write("x");
    ASSERT_TRUE(poll_until([&] { return receiving.bytes.size() == std::size_t(i) + 1; }));
  }
  EXPECT_EQ(receiving.completions, 100);
  backend().cancel(receiving);
  ASSERT_TRUE(poll_until_ended(receiving));
  EXPECT_EQ(receiving.final_result(), -ECANCELED);
  close_all({socket});
}

TEST_P(BackendReceiveTest, SeesTheEndThatCameBeforeItStarted) {
  auto [socket, peer] = make_pair();
  peer.write("last words");
  peer.close();
  settle();
  Recorder receiving;
  backend().receive(receiving, socket);
  ASSERT_TRUE(poll_until_ended(receiving));
  EXPECT_EQ(receiving.bytes, "last words");
  EXPECT_EQ(receiving.final_result(), 0);
  close_all({socket});
}

TEST_P(BackendReceiveTest, CanBeCancelledAndStartedAgain) {
  auto [socket, peer] = make_pair();
  Recorder receiving;
  for (int i = 0; i < 3; ++i) {
    receiving.ended = false;
    backend().receive(receiving, socket);
    if (i == 1) settle();  // Once when the kernel knows of it, else right away.
    backend().cancel(receiving);
    backend().cancel(receiving);
    ASSERT_TRUE(poll_until_ended(receiving));
    EXPECT_EQ(receiving.final_result(), -ECANCELED);
    backend().cancel(receiving);  // Not in flight: nothing happens.
    settle();
  }
  EXPECT_EQ(receiving.completions, 3);
  receiving.ended = false;
  backend().receive(receiving, socket);
  peer.write("after");
  ASSERT_TRUE(poll_until([&] { return receiving.bytes == "after"; }));
  close_all({socket});
  EXPECT_EQ(receiving.final_result(), -ECANCELED) << "closing cancels";
}

// Cancels come at every distance from the bytes; each byte arrives once and in order all the same.
TEST_P(BackendReceiveTest, LosesNoByteHoweverCancelAndDataRace) {
  Random random(7);
  auto [socket, peer] = make_pair();
  Recorder receiving;
  receiving.ended = true;
  const std::string sent = pattern(50'000);
  for (std::size_t written = 0; written < sent.size();) {
    if (receiving.ended && random.below(2) == 0) {
      receiving.ended = false;
      backend().receive(receiving, socket);
    }
    if (random.below(3) == 0) backend().poll(Duration::zero());
    const std::size_t bytes = std::min<std::size_t>(random.below(300), sent.size() - written);
    peer.write(std::string_view(sent).substr(written, bytes));
    written += bytes;
    if (random.below(3) == 0) backend().poll(Duration::zero());
    if (random.below(3) == 0) backend().cancel(receiving);
    if (random.below(3) == 0) backend().poll(Duration::zero());
  }
  peer.close();
  for (receiving.then = nullptr; receiving.final_result() != 0;) {
    if (receiving.ended) {
      receiving.ended = false;
      backend().receive(receiving, socket);
    }
    ASSERT_TRUE(poll_until_ended(receiving));
  }
  EXPECT_TRUE(receiving.bytes == sent) << receiving.bytes.size();
  close_all({socket});
}

TEST_P(BackendReceiveTest, MayBeCancelledClosedOrRestartedByItsOwnCompletion) {
  enum class Act { cancel, close, restart };
  for (const Act act : {Act::cancel, Act::close, Act::restart}) {
    SCOPED_TRACE(static_cast<int>(act));
    auto [socket, peer] = make_pair();
    Recorder receiving;
    int restarts = 0;
    receiving.then = [&, to = socket](const Completion& completion) {
      if (completion.more && act != Act::close) backend().cancel(receiving);
      if (completion.more && act == Act::close) backend().close(to);
      if (!completion.more && act == Act::restart && ++restarts < 3) {
        receiving.ended = false;
        backend().receive(receiving, to);
      }
    };
    backend().receive(receiving, socket);
    peer.write("a");
    if (act == Act::restart) {
      ASSERT_TRUE(poll_until([&] { return restarts == 1; }));
      peer.write("b");
      ASSERT_TRUE(poll_until([&] { return restarts == 2; }));
      peer.write("c");
      ASSERT_TRUE(poll_until([&] { return restarts == 3; }));
      EXPECT_EQ(receiving.bytes, "abc");
    }
    ASSERT_TRUE(poll_until_ended(receiving));
    EXPECT_EQ(receiving.final_result(), -ECANCELED);
    if (act != Act::close) backend().close(socket);
    ASSERT_TRUE(poll_until([&] { return backend().socket_count() == 0; }));
  }
}

// A restart inside the completion that a cancel caused must not keep poll() busy for ever.
TEST_P(BackendReceiveTest, ReturnsFromPollThoughACompletionCancelsAgain) {
  auto [socket, peer] = make_pair();
  Recorder receiving;
  receiving.then = [&, to = socket](const Completion&) {
    if (receiving.completions >= 1000) return;
    receiving.ended = false;
    backend().receive(receiving, to);
    backend().cancel(receiving);
  };
  backend().receive(receiving, socket);
  backend().cancel(receiving);
  backend().poll(std::chrono::milliseconds(20));
  EXPECT_LT(receiving.completions, 100);
  ASSERT_TRUE(poll_until([&] { return receiving.completions == 1000; }));
  close_all({socket});
}

TEST_P(BackendReceiveTest, ToleratesThatACompletionAdoptsAndClosesOthers) {
  constexpr int count = 50;
  std::vector<std::pair<Socket, Peer>> pairs;
  std::vector<std::unique_ptr<Recorder>> receiving;
  std::vector<Peer> late_peers;
  std::vector<Socket> late;
  for (int i = 0; i < count; ++i) {
    pairs.push_back(make_pair());
    receiving.push_back(std::make_unique<Recorder>());
    backend().receive(*receiving.back(), pairs.back().first);
  }
  settle();
  // Whoever is served first closes everybody else, and makes the table of sockets grow.
  for (int i = 0; i < count; ++i) {
    receiving[i]->then = [&, i](const Completion&) {
      if (!late.empty()) return;
      for (int other = 0; other < count; ++other) {
        if (other != i) backend().close(pairs[other].first);
      }
      for (int n = 0; n < 200; ++n) {
        auto [socket, peer] = make_pair();
        late.push_back(socket);
        late_peers.push_back(std::move(peer));
      }
    };
  }
  for (auto& [socket, peer] : pairs) peer.write("x");
  ASSERT_TRUE(poll_until([&] { return backend().socket_count() == late.size() + 1; }));
  int alive = 0;
  for (auto& one : receiving) alive += one->in_flight() ? 1 : 0;
  EXPECT_EQ(alive, 1);
  for (int i = 0; i < count; ++i) {
    if (receiving[i]->in_flight()) backend().close(pairs[i].first);
  }
  for (const Socket socket : late) backend().close(socket);
  ASSERT_TRUE(poll_until([&] { return backend().socket_count() == 0; }));
}

TEST_P(BackendReceiveTest, LosesNothingWhenItRunsOutOfBuffers) {
  for (const unsigned buffers : {1U, 2U}) {
    SCOPED_TRACE(buffers);
    make({.receive_buffers = buffers, .receive_buffer_bytes = 512, .accept_burst = 64});
    constexpr int count = 40;
    std::vector<std::pair<Socket, Peer>> pairs;
    std::vector<std::unique_ptr<Recorder>> receiving;
    const std::string sent = pattern(5'000);
    for (int i = 0; i < count; ++i) {
      pairs.push_back(make_pair());
      receiving.push_back(std::make_unique<Recorder>());
      backend().receive(*receiving.back(), pairs.back().first);
    }
    for (auto& [socket, peer] : pairs) {
      peer.write(sent);
      peer.close();
    }
    for (auto& one : receiving) {
      ASSERT_TRUE(poll_until_ended(*one));
      EXPECT_EQ(one->final_result(), 0);
      EXPECT_TRUE(one->bytes == sent) << one->bytes.size();
    }
    for (auto& [socket, peer] : pairs) backend().close(socket);
    ASSERT_TRUE(poll_until([&] { return backend().socket_count() == 0; }));
  }
}

TEST_P(BackendReceiveTest, LetsNobodyStarveBesideABusyPeer) {
  auto [busy, busy_peer] = make_pair();
  auto [quiet, quiet_peer] = make_pair();
  Recorder busy_receiving, quiet_receiving;
  backend().receive(busy_receiving, busy);
  backend().receive(quiet_receiving, quiet);
  settle();
  const std::string chunk = pattern(100'000);
  busy_receiving.then = [&, &from = busy_peer](const Completion& completion) {
    if (completion.more) {  // As fast as it is read.
      [[maybe_unused]] const ssize_t bytes =
          ::send(from.get(), chunk.data(), chunk.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }
  };
  busy_peer.write(chunk);
  backend().poll(std::chrono::milliseconds(20));
  quiet_peer.write("me too");
  for (int i = 0; i < 3; ++i) backend().poll(std::chrono::milliseconds(20));
  EXPECT_EQ(quiet_receiving.bytes, "me too");
  EXPECT_TRUE(busy_receiving.in_flight());
  close_all({busy, quiet});
}

SENNIT_FOR_EACH_BACKEND(BackendReceiveTest);

}  // namespace
}  // namespace sennit::runtime::io
