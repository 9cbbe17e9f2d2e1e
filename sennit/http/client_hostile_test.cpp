// The client against servers that do everything wrong. None may make it hang, crash, take what was
// not said for an answer, or use a connection again that is not clean.

#include <gtest/gtest.h>
#include <zlib.h>

#include "sennit/base/random.hpp"
#include "sennit/http/client.hpp"
#include "sennit/http/testing/client_test_fixture.hpp"
#include "sennit/runtime/scope.hpp"
#include "sennit/runtime/sleep.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using testing::RawPeer;
using testing::RawServer;

class HostileServerTest : public testing::ClientTest {
 protected:
  /// Until every connection of the client has ended.
  static bool all_closed(const Client& client) {
    for (int i = 0; i < 60'000 && client.open_count() > 0; ++i) wait(sleep_for(1ms));
    return client.open_count() == 0;
  }
  /// A server that answers each request with `bytes` as they are, and keeps the connection.
  static RawServer::Script saying(std::string bytes) {
    return [bytes = std::move(bytes)](RawPeer& peer) {
      while (peer.read_request()) {
        if (!peer.send(bytes)) return;
      }
    };
  }
  /// What a call to such a server comes to.
  std::string outcome(const std::string& bytes) {
    RawServer server(saying(bytes));
    std::string shown;
    with_client([&](Client& client) { shown = show(wait(client.get(server.url()))); });
    return shown;
  }
};

struct Framing {
  const char* name;
  std::string head;
  std::string body;
  bool ends_with_connection;
};

// However an answer is cut off, in whatever framing, by an end or a reset: the call ends, with an
// error of the right phase, or with the whole answer.
TEST_P(HostileServerTest, EndsWhereverAnAnswerBreaksOff) {
  const Framing framings[] = {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", "0123456789", false},
      {"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       "5;x=y\r\n01234\r\n5\r\n56789\r\n0\r\nT: v\r\n\r\n", false},
      {"until close", "HTTP/1.1 200 OK\r\n\r\n", "0123456789", true},
      {"interim", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No\r\n\r\n", "", false},
  };
  for (const Framing& framing : framings) {
    const std::string all = framing.head + framing.body;
    std::atomic<std::size_t> cut = 0;
    std::atomic<bool> resets = false;
    RawServer server([&](RawPeer& peer) {
      if (!peer.read_request()) return;
      peer.send(std::string_view(all).substr(0, cut));
      if (resets) peer.reset();
    });
    with_client([&](Client& client) {
      for (const bool reset : {false, true}) {
        for (std::size_t length = 0; length <= all.size(); ++length) {
          cut = length;
          resets = reset;
          const ClientResult got = wait(client.post(server.url(), "x"));
          const std::string where = std::string(framing.name) + (reset ? " reset" : " end") +
                                    " after " + std::to_string(length) + ": " + show(got);
          if (got) {
            // A reset may overtake bytes, never the other way round.
            const bool is_whole = length == all.size();
            EXPECT_TRUE(is_whole || (framing.ends_with_connection && !reset)) << where;
            if (is_whole && !framing.body.empty()) {
              EXPECT_EQ(got->body(), "0123456789") << where;
            }
            continue;
          }
          const Errc code = got.error().code();
          EXPECT_TRUE(code == Errc::closed || code == Errc::connection_reset) << where;
          EXPECT_TRUE(reset || length < all.size()) << where;
          if (reset) continue;
          const Phase want = length == 0                    ? Phase::first_byte
                             : length < framing.head.size() ? Phase::head
                                                            : Phase::body;
          // Between an interim answer and the next nothing of that has come.
          const bool between = framing.body.empty() && got.error().phase() == Phase::first_byte;
          EXPECT_TRUE(got.error().phase() == want || between) << where;
        }
      }
      EXPECT_TRUE(all_closed(client));
    });
  }
}

TEST_P(HostileServerTest, RefusesWhatIsNoAnswer) {
  const std::string cases[] = {
      "nonsense\r\n\r\n",
      "HTTP/1.1 99 No\r\n\r\n",
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\n folded\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
      "HTTP/1.1 200 " + std::string(100'000, 'r') + "\r\n\r\n",
  };
  for (const std::string& bytes : cases) {
    EXPECT_EQ(outcome(bytes), "head: malformed") << bytes.substr(0, 60);
  }
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* bytes : {"x\r\n", "5\r\n012345\r\n", "-1\r\n", "fffffffffffffffff\r\n", "5\n"}) {
    EXPECT_EQ(outcome(chunked + bytes), "body: malformed") << bytes;
  }
}

TEST_P(HostileServerTest, LimitsWhatAServerMaySend) {
  EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 9000000000000000000\r\n\r\nx"),
            "body: limit reached");
  // Without end, of each kind.
  const auto flood = [this](const std::string& first, const std::string& again) {
    RawServer server([&](RawPeer& peer) {
      if (!peer.read_request() || !peer.send(first)) return;
      while (peer.send(again)) {
      }
    });
    std::string shown;
    with_client([&](Client& client) {
      shown = show(wait(client.get(server.url()).body_bytes_max(1'000'000)));
      EXPECT_EQ(client.idle_count(), 0U);
    });
    return shown;
  };
  std::string small_chunks;
  for (int i = 0; i < 1000; ++i) small_chunks += "1\r\nx\r\n";
  EXPECT_EQ(flood("", "HTTP/1.1 100 Continue\r\n\r\n"), "head: limit reached");
  EXPECT_EQ(flood("HTTP/1.1 200 OK\r\n", "X: y\r\n"), "head: malformed");
  EXPECT_EQ(flood("HTTP/1.1 200 OK\r\nX: ", std::string(1000, 'x')), "head: malformed");
  EXPECT_EQ(flood("HTTP/1.1 200 ", "endless"), "head: malformed");
  EXPECT_EQ(flood("HTTP/1.1 200 OK\r\n\r\n", std::string(100'000, 'x')), "body: limit reached");
  EXPECT_EQ(flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", small_chunks),
            "body: limit reached");
  EXPECT_EQ(flood("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "extension"),
            "body: malformed");
}

TEST_P(HostileServerTest, UsesNoConnectionAgainThatHoldsMoreThanTheAnswer) {
  RawServer server(saying(answer("right") + answer("forged")));
  with_client([&](Client& client) {
    for (int i = 0; i < 20; ++i) {
      const ClientResult got = wait(client.get(server.url()));
      // What came too much may be seen only when the next request is about to be sent.
      if (!got) continue;
      EXPECT_EQ(got->body(), "right") << i;
    }
  });
}

TEST_P(HostileServerTest, DropsAnIdleConnectionThatSpeaksUnasked) {
  std::atomic<bool> may_speak = false;
  RawServer server([&](RawPeer& peer) {
    if (!peer.read_request()) return;
    peer.send(answer("asked"));
    while (!may_speak) std::this_thread::yield();
    peer.send(answer("unasked"));
    peer.wait_for_end();
  });
  with_client([&](Client& client) {
    EXPECT_EQ(show(wait(client.get(server.url()))), "200 asked");
    EXPECT_EQ(client.idle_count(), 1U);
    may_speak = true;
    EXPECT_TRUE(all_closed(client));
  });
}

// The body is larger than any buffer between the two, and the server never reads it.
TEST_P(HostileServerTest, TakesAnAnswerThatComesBeforeTheBodyWasSent) {
  RawServer server([&](RawPeer& peer) {
    if (!peer.read_head()) return;
    peer.send(answer("too large", "413 Content Too Large"));
    // Bytes unread would make the kernel reset, which may overtake the answer.
    peer.wait_for_end();
  });
  RawServer abrupt([&](RawPeer& peer) {
    if (peer.read_head()) peer.send(answer("no", "403 Forbidden"));
  });
  with_client([&](Client& client) {
    const std::string large(30'000'000, 'b');
    EXPECT_EQ(show(wait(client.post(server.url(), large))), "413 too large");
    EXPECT_TRUE(all_closed(client)) << "half a request cannot be followed by another";
    const auto endless = []() -> Task<Result<std::string_view>> {
      static const std::string piece(100'000, 'p');
      co_return std::string_view(piece);
    };
    const ClientResult streamed = wait(client.request("POST", server.url()).body_stream(endless));
    EXPECT_EQ(show(streamed), "413 too large");
    const ClientResult cut = wait(client.post(abrupt.url(), large));
    if (!cut) {
      EXPECT_EQ(cut.error().code(), Errc::connection_reset) << show(cut);
    } else {
      EXPECT_EQ(show(cut), "403 no");
    }
    EXPECT_TRUE(all_closed(client));
  });
}

TEST_P(HostileServerTest, HoldsABodyBackUntilItIsWanted) {
  std::atomic<std::size_t> body_bytes = 0;
  RawServer wants([&](RawPeer& peer) {
    while (peer.read_head()) {
      EXPECT_NE(peer.head().find("Expect: 100-continue\r\n"), std::string::npos);
      EXPECT_EQ(peer.rest(), "");
      peer.send("HTTP/1.1 100 Continue\r\n\r\n");
      body_bytes = peer.read_body(5);
      peer.send(answer(peer.body()));
    }
  });
  RawServer refuses([&](RawPeer& peer) {
    while (peer.read_head()) {
      body_bytes = peer.rest().size();
      peer.send(answer("no", "417 Expectation Failed"));
    }
  });
  RawServer silent([&](RawPeer& peer) {
    while (peer.read_request()) peer.send(answer(peer.body()));
  });
  ClientOptions options = client_options();
  options.continue_timeout = 60s;
  with_client(
      [&](Client& client) {
        EXPECT_EQ(show(wait(client.post(wants.url(), "12345").expect_continue())), "200 12345");
        EXPECT_EQ(body_bytes, 5U);
        EXPECT_EQ(show(wait(client.post(refuses.url(), "12345").expect_continue())), "417 no");
        EXPECT_EQ(body_bytes, 0U);
      },
      options);
  options.continue_timeout = 1ms;
  with_client(
      [&](Client& client) {
        EXPECT_EQ(show(wait(client.post(silent.url(), "12345").expect_continue())), "200 12345");
      },
      options);
}

TEST_P(HostileServerTest, ReadsAnAnswerThatDripsByteByByte) {
  const std::string bytes =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  RawServer server([&](RawPeer& peer) {
    while (peer.read_request()) {
      for (const char byte : bytes) peer.send({&byte, 1});
    }
  });
  with_client([&](Client& client) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(show(wait(client.get(server.url()))), "200 abcde");
    }
    EXPECT_EQ(client.open_count(), 1U);
  });
}

TEST_P(HostileServerTest, EndsWhateverIsDoneToTheBytesOfAnAnswer) {
  const std::string good =
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
      "1f\r\n" +
      std::string(
          "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x57\x28\xcf\x2f\xca\x49\x01\0"
          "\x85\x11\x4a\x0d\x0b\0\0\0",
          31) +
      "\r\n0\r\n\r\n";
  EXPECT_EQ(outcome(good), "200 hello world");
  std::atomic<std::uint64_t> seed = 0;
  RawServer server([&](RawPeer& peer) {
    if (!peer.read_request()) return;
    Random random(++seed);
    std::string bytes = good;
    for (int i = 0; i < 3; ++i) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    peer.send(bytes);
  });
  with_client([&](Client& client) {
    for (int i = 0; i < 500; ++i) {
      const ClientResult got = wait(client.post(server.url(), ""));
      if (got) continue;
      const Errc code = got.error().code();
      EXPECT_NE(code, Errc::timed_out) << i << ": " << got.error().to_string();
    }
    EXPECT_TRUE(all_closed(client));
  });
}

TEST_P(HostileServerTest, EndsACallThatIsCancelled) {
  std::atomic<int> asked = 0;
  RawServer server([&](RawPeer& peer) {
    if (!peer.read_request()) return;
    ++asked;
    peer.wait_for_end();
  });
  with_client([&](Client& client) {
    std::string shown;
    Scope scope;
    scope.spawn([&] { shown = show(wait(client.get(server.url()).retry(5))); });
    while (asked == 0) wait(sleep_for(1ms));
    scope.cancel();
    wait(scope.join());
    EXPECT_EQ(shown, "first byte: cancelled");
    EXPECT_TRUE(all_closed(client));
  });
}

SENNIT_FOR_EACH_BACKEND(HostileServerTest);

}  // namespace
}  // namespace sennit::http
