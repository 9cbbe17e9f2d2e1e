// Sending and connecting, on each backend: the rules of backend.hpp as a writer meets them.

#include "sennit/runtime/io/detail/testing/direct_backend.hpp"

namespace sennit::runtime::io {
namespace {

using testing::DirectBackendTest;
using testing::pattern;
using testing::Peer;
using testing::Recorder;

class BackendSendTest : public DirectBackendTest {
 protected:
  static const sockaddr* generic(const sockaddr_in& address) {
    return reinterpret_cast<const sockaddr*>(&address);
  }
  void connect(Recorder& recorder, Socket socket, const sockaddr_in& address) {
    if (backend().connect(recorder, socket, &address, sizeof address)) recorder.done_at_once();
  }
  /// An address where attempts to connect stay unanswered while what is returned lives.
  static std::vector<Peer> unanswering(sockaddr_in& address) {
    std::vector<Peer> held;
    held.push_back(tcp_listener(address, 0));
    for (int i = 0; i < 3; ++i) {  // Fills its queue, and one more.
      held.push_back(Peer(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
      ::connect(held.back().get(), generic(address), sizeof address);
    }
    return held;
  }
};

TEST_P(BackendSendTest, FailsWhenThePeerIsGone) {
  auto [socket, peer] = make_pair();
  peer.close();
  settle();
  Recorder sending;
  send(sending, socket, "anybody?");
  ASSERT_TRUE(poll_until_ended(sending));
  EXPECT_EQ(sending.final_result(), -EPIPE);
  EXPECT_EQ(sending.transferred(), 0U);
  close_all({socket});
}

TEST_P(BackendSendTest, FailsWhenThePeerGoesWhileItWaits) {
  auto [socket, peer] = make_pair();
  const std::string bytes = pattern(4'000'000);
  Recorder sending;
  send(sending, socket, bytes);
  settle();
  ASSERT_TRUE(sending.in_flight());
  peer.close();
  ASSERT_TRUE(poll_until_ended(sending));
  EXPECT_TRUE(sending.final_result() == -EPIPE || sending.final_result() == -ECONNRESET)
      << sending.final_result();
  EXPECT_LT(sending.transferred(), bytes.size());
  close_all({socket});
}

TEST_P(BackendSendTest, SendsAllOfIt) {
  for (const std::size_t bytes : {0, 1, 100, 10'000}) {
    SCOPED_TRACE(bytes);
    auto [socket, peer] = make_pair();
    Recorder sending;
    const std::string text = pattern(bytes);
    send(sending, socket, text);
    ASSERT_TRUE(poll_until_ended(sending));
    EXPECT_EQ(sending.final_result(), static_cast<int>(bytes));
    EXPECT_EQ(sending.transferred(), bytes);
    EXPECT_TRUE(peer.read_now() == text);
    close_all({socket});
  }
}

// Whoever watches a send tells a slow reader from a dead one by transferred().
TEST_P(BackendSendTest, ShowsProgressWhileASlowReaderReads) {
  auto [socket, peer] = make_tcp_pair();
  const std::string bytes = pattern(8'000'000);
  Recorder sending;
  send(sending, socket, bytes);
  std::string heard;
  std::size_t seen = 0;
  int steps = 0;
  ASSERT_TRUE(poll_until([&, &from = peer] {
    if (sending.transferred() > seen) {
      seen = sending.transferred();
      ++steps;
    }
    heard += from.read_now(100'000);
    return sending.ended;
  }));
  EXPECT_GE(steps, 4) << "of " << bytes.size() << " bytes";
  EXPECT_EQ(sending.final_result(), static_cast<int>(bytes.size()));
  ASSERT_TRUE(poll_until([&, &from = peer] {
    heard += from.read_now();
    return heard.size() == bytes.size();
  }));
  EXPECT_TRUE(heard == bytes);
  close_all({socket});
}

TEST_P(BackendSendTest, SaysExactlyHowMuchACancelledSendHasSent) {
  for (const bool by_closing : {false, true}) {
    SCOPED_TRACE(by_closing);
    auto [socket, peer] = make_pair();
    const std::string bytes = pattern(4'000'000);
    Recorder sending;
    send(sending, socket, bytes);
    settle();
    std::string heard = peer.read_now(50'000);
    settle();
    if (by_closing) {
      backend().close(socket);
    } else {
      backend().cancel(sending);
    }
    EXPECT_FALSE(sending.ended);
    ASSERT_TRUE(poll_until_ended(sending));
    EXPECT_EQ(sending.final_result(), -ECANCELED);
    for (std::string more = peer.read_now(); !more.empty(); more = peer.read_now()) heard += more;
    EXPECT_EQ(sending.transferred(), heard.size());
    EXPECT_EQ(heard, bytes.substr(0, heard.size()));
    if (!by_closing) backend().close(socket);
    ASSERT_TRUE(poll_until([&, &from = peer] { return from.at_end(); }));
  }
}

TEST_P(BackendSendTest, SendsAndReceivesAtTheSameTime) {
  auto [socket, peer] = make_pair();
  const std::string bytes = pattern(2'000'000);
  Recorder sending, receiving;
  backend().receive(receiving, socket);
  send(sending, socket, bytes);
  std::string heard;
  std::size_t echoed = 0;
  ASSERT_TRUE(poll_until([&, &from = peer] {
    heard += from.read_now(100'000);
    const ssize_t sent = ::send(from.get(), heard.data() + echoed, heard.size() - echoed,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) echoed += static_cast<std::size_t>(sent);
    return receiving.bytes.size() == bytes.size();
  }));
  EXPECT_TRUE(receiving.bytes == bytes);
  EXPECT_TRUE(sending.ended);
  close_all({socket});
}

TEST_P(BackendSendTest, EndsItsDirectionAndStillReceives) {
  auto [socket, peer] = make_pair();
  Recorder sending, receiving;
  backend().receive(receiving, socket);
  send(sending, socket, "that is all");
  ASSERT_TRUE(poll_until_ended(sending));
  backend().shut_down_writing(socket);
  EXPECT_EQ(peer.read_now(), "that is all");
  EXPECT_TRUE(peer.at_end());
  peer.write("heard");
  ASSERT_TRUE(poll_until([&] { return receiving.bytes == "heard"; }));
  close_all({socket});
}

TEST_P(BackendSendTest, ConnectsOrSaysWhyNot) {
  sockaddr_in nobody{}, somebody{};
  tcp_listener(nobody, 1).close();
  const Peer listener = tcp_listener(somebody, 1);
  struct Case {
    sockaddr_in address;
    int result;
  };
  for (const auto& [address, result] : {Case{nobody, -ECONNREFUSED}, Case{somebody, 0}}) {
    SCOPED_TRACE(result);
    const Socket socket = adopt(tcp_socket().release());
    settle();  // What an unconnected socket says must not be taken for a connection.
    Recorder connecting;
    connect(connecting, socket, address);
    ASSERT_TRUE(poll_until_ended(connecting));
    EXPECT_EQ(connecting.final_result(), result);
    if (result == 0) {
      const Peer accepted(::accept(listener.get(), nullptr, nullptr));
      Recorder sending, receiving;
      backend().receive(receiving, socket);
      accepted.write("welcome");
      send(sending, socket, "hello");
      ASSERT_TRUE(poll_until([&] { return receiving.bytes == "welcome" && sending.ended; }));
      EXPECT_EQ(accepted.read_now(), "hello");
      close_all({socket});
    } else {
      close_all({socket});
    }
  }
}

TEST_P(BackendSendTest, GivesUpAConnectThatNobodyAnswers) {
  sockaddr_in address{};
  const std::vector<Peer> held = unanswering(address);
  for (const bool by_closing : {false, true}) {
    SCOPED_TRACE(by_closing);
    const Socket socket = adopt(tcp_socket().release());
    Recorder connecting;
    connect(connecting, socket, address);
    backend().poll(std::chrono::milliseconds(2));
    ASSERT_TRUE(connecting.in_flight());
    if (by_closing) {
      backend().close(socket);
    } else {
      backend().cancel(connecting);
    }
    ASSERT_TRUE(poll_until_ended(connecting));
    EXPECT_EQ(connecting.final_result(), -ECANCELED);
    if (!by_closing) backend().close(socket);
    ASSERT_TRUE(poll_until([&] { return backend().socket_count() == 0; }));
  }
}

// The kernel's word on a socket from before its connect may be handled after it, in the same turn.
TEST_P(BackendSendTest, TakesNoOldNewsForAConnection) {
  sockaddr_in address{};
  const std::vector<Peer> held = unanswering(address);
  auto [first, first_peer] = make_pair();
  Recorder receiving, connecting;
  backend().receive(receiving, first);
  settle();
  first_peer.write("go");
  const Socket socket = adopt(tcp_socket().release());
  receiving.then = [&](const Completion& completion) {
    if (completion.more) connect(connecting, socket, address);
  };
  for (int i = 0; i < 3; ++i) backend().poll(std::chrono::milliseconds(2));
  EXPECT_EQ(receiving.bytes, "go");
  EXPECT_TRUE(connecting.in_flight()) << connecting.final_result();
  close_all({first, socket});
}

SENNIT_FOR_EACH_BACKEND(BackendSendTest);

}  // namespace
}  // namespace sennit::runtime::io
