#include "sennit/http/client.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "sennit/http/percent.hpp"
#include "sennit/http/testing/client_test_fixture.hpp"
#include "sennit/metrics/exposition.hpp"
#include "sennit/runtime/sleep.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using testing::RawPeer;
using testing::RawServer;

class ClientCallTest : public testing::ClientTest {
 protected:
  static std::string gzip(const std::string& text) {
    std::string out(::compressBound(text.size()) + 64, '\0');
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
  }
  /// The next piece of `text`, five bytes each.
  static Client::BodySource pieces_of(std::string text) {
    auto rest = std::make_shared<std::string>(std::move(text));
    auto at = std::make_shared<std::size_t>(0);
    return [rest, at]() -> Task<Result<std::string_view>> {
      const std::string_view piece = std::string_view(*rest).substr(*at, 5);
      *at += piece.size();
      co_await yield();
      co_return piece;
    };
  }
};

TEST_P(ClientCallTest, CallsFromAFiberAndFromACoroutine) {
  start();
  with_client([&](Client& client) {
    const ClientResult got = wait(client.get(url("/status")).deadline(60s).retry(2));
    EXPECT_EQ(show(got), "200 hello world");
    EXPECT_EQ(got->headers().get("content-length"), "11");
    EXPECT_EQ(got->url(), url("/status"));
    EXPECT_EQ(got->tries(), 1U);
    EXPECT_EQ(show(wait(client.get(url("/absent")))).substr(0, 3), "404");
  });
  runtime().run([&]() -> Task<> {
    Client client(client_options());
    const ClientResult got = co_await client.get(url("/coro")).deadline(60s).retry(2);
    EXPECT_EQ(show(got), "200 hello coroutine");
  });
}

TEST_P(ClientCallTest, UsesOneConnectionForCallsAfterEachOther) {
  start();
  with_client([&](Client& client) {
    for (int i = 0; i < 100; ++i) {
      const ClientResult got = wait(client.get(url("/status")));
      ASSERT_EQ(show(got), "200 hello world");
      EXPECT_EQ(got->was_reused(), i > 0);
    }
    EXPECT_EQ(client.open_count(), 1U);
    EXPECT_EQ(client.idle_count(), 1U);
  });
}

TEST_P(ClientCallTest, SendsBodiesOfEverySize) {
  options_.body_bytes_max = 64'000'000;
  start();
  with_client([&](Client& client) {
    for (const std::size_t bytes : {0, 1, 16'384, 16'385, 1'000'000, 8'000'000}) {
      const std::string body(bytes, 'b');
      const ClientResult got = wait(client.post(url("/echo"), body));
      ASSERT_TRUE(got.has_value()) << bytes << ": " << show(got);
      EXPECT_TRUE(got->body() == body) << bytes;
    }
    EXPECT_EQ(client.open_count(), 1U);
  });
}

TEST_P(ClientCallTest, StreamsABodyUpInChunksAndByLength) {
  start();
  with_client([&](Client& client) {
    const std::string text = "a body that comes in pieces";
    const ClientResult chunked =
        wait(client.request("POST", url("/echo")).body_stream(pieces_of(text)));
    EXPECT_EQ(show(chunked), "200 " + text);
    const ClientResult counted =
        wait(client.request("POST", url("/echo")).body_stream(pieces_of(text), text.size()));
    EXPECT_EQ(show(counted), "200 " + text);
    EXPECT_TRUE(counted->was_reused());
    const ClientResult lying =
        wait(client.request("POST", url("/echo")).body_stream(pieces_of(text), text.size() + 1));
    EXPECT_EQ(show(lying), "send: invalid argument");
  });
}

TEST_P(ClientCallTest, StreamsABodyDown) {
  server_.get("/large", [](Request&) { return text(std::string(3'000'000, 'z')); });
  start();
  with_client([&](Client& client) {
    {
      ClientResult got = wait(client.get(url("/large")).stream());
      ASSERT_TRUE(got.has_value()) << show(got);
      EXPECT_TRUE(got->is_streamed());
      std::string room(1000, '\0');
      std::size_t total = 0;
      for (;;) {
        const auto bytes = wait(got->read(room));
        ASSERT_TRUE(bytes.has_value()) << bytes.error().to_string();
        if (*bytes == 0) break;
        total += *bytes;
      }
      EXPECT_EQ(total, 3'000'000U);
      EXPECT_EQ(client.idle_count(), 1U) << "read to the end, it is free";
    }
    {
      ClientResult left = wait(client.get(url("/large")).stream());
      ASSERT_TRUE(left.has_value());
      EXPECT_TRUE(left->was_reused());
    }
    EXPECT_EQ(client.open_count(), 0U) << "left in the middle, it is closed";
  });
}

TEST_P(ClientCallTest, AnswersHeadAndBodilessStatusWithoutABody) {
  server_.get("/none", [](Request&) { return empty(Status::no_content); });
  start();
  with_client([&](Client& client) {
    const ClientResult head = wait(client.head(url("/status")));
    EXPECT_EQ(show(head), "200 ");
    EXPECT_EQ(head->headers().get("Content-Length"), "11");
    EXPECT_EQ(show(wait(client.get(url("/none")))), "204 ");
    EXPECT_EQ(client.open_count(), 1U);
  });
}

TEST_P(ClientCallTest, FollowsRedirectsAndStopsAtTheLimit) {
  server_.get("/a", [](Request&) { return redirect("/b?x"); });
  server_.get("/b", [](Request&) { return redirect("status", Status::permanent_redirect); });
  server_.get("/loop", [](Request&) { return redirect("/loop"); });
  server_.post("/after", [](Request&) { return redirect("/status", Status::see_other); });
  server_.post("/keep", [](Request&) { return redirect("/echo", Status::temporary_redirect); });
  server_.get("/tls", [](Request&) { return redirect("https://127.0.0.1/"); });
  start();
  with_client([&](Client& client) {
    const ClientResult got = wait(client.get(url("/a")));
    EXPECT_EQ(show(got), "200 hello world");
    EXPECT_EQ(got->url(), url("/status"));
    EXPECT_EQ(got->redirects(), 2U);
    EXPECT_EQ(got->tries(), 3U);
    EXPECT_EQ(client.open_count(), 1U) << "one connection served them all";
    EXPECT_EQ(show(wait(client.get(url("/a")).redirects(0))), "302 ");
    EXPECT_EQ(show(wait(client.get(url("/a")).redirects(1))), "redirect: limit reached");
    EXPECT_EQ(show(wait(client.get(url("/loop")))), "redirect: limit reached");
    EXPECT_EQ(show(wait(client.get(url("/tls")))), "redirect: not supported here");
    EXPECT_EQ(show(wait(client.post(url("/after"), "x"))), "200 hello world");
    EXPECT_EQ(show(wait(client.post(url("/keep"), "kept"))), "200 kept");
  });
}

TEST_P(ClientCallTest, TakesNoCredentialsToAnotherOrigin) {
  std::string heads[2];
  RawServer elsewhere([&](RawPeer& peer) {
    if (peer.read_request()) peer.send(answer(peer.head()));
  });
  RawServer first([&](RawPeer& peer) {
    if (!peer.read_request()) return;
    peer.send(answer("", "302 Found", "Location: " + elsewhere.url("/x") + "\r\n"));
  });
  with_client([&](Client& client) {
    const ClientResult got = wait(client.get(first.url())
                                      .header("Authorization", "secret")
                                      .header("Cookie", "secret")
                                      .header("X-Kept", "yes"));
    ASSERT_TRUE(got.has_value()) << show(got);
    EXPECT_EQ(got->body().find("secret"), std::string::npos) << got->body();
    EXPECT_NE(got->body().find("X-Kept: yes"), std::string::npos) << got->body();
  });
}

TEST_P(ClientCallTest, TakesOffCompressionWithinItsLimits) {
  const std::string text(100'000, 't');
  const std::string bomb = gzip(std::string(50'000'000, '\0'));
  RawServer server([&](RawPeer& peer) {
    while (peer.read_request()) {
      const bool asked = peer.head().find("Accept-Encoding: gzip, zstd") != std::string::npos;
      const bool wants_bomb = peer.head().starts_with("GET /bomb");
      const std::string& body = wants_bomb ? bomb : asked ? gzip(text) : text;
      peer.send(answer(body, "200 OK", asked ? "Content-Encoding: gzip\r\n" : ""));
    }
  });
  with_client([&](Client& client) {
    const ClientResult got = wait(client.get(server.url()));
    ASSERT_TRUE(got.has_value()) << show(got);
    EXPECT_TRUE(got->body() == text);
    EXPECT_FALSE(got->headers().contains("Content-Encoding"));
    const ClientResult raw = wait(client.get(server.url()).raw());
    EXPECT_TRUE(raw.has_value() && raw->body() == text);
    EXPECT_EQ(show(wait(client.get(server.url("/bomb")))), "body: limit reached");
    EXPECT_EQ(show(wait(client.get(server.url()).body_bytes_max(99'999))), "body: limit reached");
    EXPECT_EQ(wait(client.get(server.url()).body_bytes_max(100'000))->body().size(), 100'000U);
  });
}

TEST_P(ClientCallTest, RetriesWhatMayBeRepeatedAndNothingElse) {
  std::atomic<int> asked = 0;
  RawServer server([&](RawPeer& peer) {
    if (!peer.read_request()) return;
    if (++asked % 3 != 0) return peer.reset();
    // Announced, lest the next call begins on a connection that ends, which costs it another try.
    peer.send(answer("third", "200 OK", "Connection: close\r\n"));
  });
  with_client([&](Client& client) {
    const ClientResult got = wait(client.get(server.url()).retry(2));
    EXPECT_EQ(show(got), "200 third");
    EXPECT_EQ(got->tries(), 3U);
    const ClientResult once = wait(client.get(server.url()).retry(1));
    ASSERT_FALSE(once.has_value());
    EXPECT_EQ(once.error().tries(), 2U);
    asked = 0;
    const ClientResult post = wait(client.post(server.url(), "x").retry(5));
    ASSERT_FALSE(post.has_value());
    EXPECT_EQ(asked, 1) << "a POST is made once";
    asked = 0;
    EXPECT_EQ(show(wait(client.post(server.url(), "x").retry(5).idempotent())), "200 third");
  });
}

TEST_P(ClientCallTest, RetriesAnOverloadedServerWithinTheBudget) {
  std::atomic<int> asked = 0;
  RawServer server([&](RawPeer& peer) {
    while (peer.read_request()) {
      ++asked;
      peer.send(answer("busy", "503 Service Unavailable"));
    }
  });
  ClientOptions options = client_options();
  options.retry_budget = {.ratio = 0, .per_second = 0, .tokens_max = 5};
  with_client(
      [&](Client& client) {
        for (int i = 0; i < 10; ++i) {
          EXPECT_EQ(show(wait(client.get(server.url()).retry(3))), "503 busy");
        }
        EXPECT_EQ(asked, 15);
      },
      options);
}

TEST_P(ClientCallTest, WaitsAsLongAsAnOverloadedServerAsksIfTheDeadlineAllows) {
  std::atomic<int> asked = 0;
  RawServer server([&](RawPeer& peer) {
    while (peer.read_request()) {
      ++asked;
      peer.send(answer("", "503 Service Unavailable", "Retry-After: 1000\r\n"));
    }
  });
  with_client([&](Client& client) {
    EXPECT_EQ(show(wait(client.get(server.url()).retry(3))), "503 ");
    EXPECT_EQ(asked, 1);
  });
}

TEST_P(ClientCallTest, NoticesAnIdleConnectionThatTheServerCloses) {
  RawServer server([&](RawPeer& peer) {
    if (peer.read_request()) peer.send(answer("one for each connection"));
  });
  with_client([&](Client& client) {
    for (int i = 0; i < 5; ++i) {
      const ClientResult got = wait(client.post(server.url(), "not to be repeated"));
      EXPECT_EQ(show(got), "200 one for each connection");
      for (int k = 0; k < 60'000 && client.open_count() > 0; ++k) wait(sleep_for(1ms));
      EXPECT_EQ(client.open_count(), 0U);
    }
  });
}

TEST_P(ClientCallTest, RepeatsACallThatMetAStaleConnection) {
  std::atomic<int> served = 0;
  RawServer server([&](RawPeer& peer) {
    if (!peer.read_request()) return;
    ++served;
    peer.send(answer("fine"));
    peer.read_head();  // The second request on it gets no answer.
  });
  with_client([&](Client& client) {
    EXPECT_EQ(show(wait(client.get(server.url()))), "200 fine");
    const ClientResult again = wait(client.get(server.url()));
    EXPECT_EQ(show(again), "200 fine");
    EXPECT_EQ(again->tries(), 2U);
    const ClientResult post = wait(client.post(server.url(), "x"));
    ASSERT_FALSE(post.has_value()) << "nobody knows whether it was done";
    EXPECT_EQ(post.error().phase(), Phase::first_byte);
  });
}

TEST_P(ClientCallTest, LimitsTheConnectionsOfAnOrigin) {
  start();
  ClientOptions options = client_options();
  options.pool.connections_max = 3;
  with_client(
      [&](Client& client) {
        Scope scope;
        int answered = 0;
        for (int i = 0; i < 30; ++i) {
          scope.spawn([&] {
            answered += show(wait(client.get(url("/slow")))) == "200 slow" ? 1 : 0;
            EXPECT_LE(client.open_count(), 3U);
          });
        }
        wait(scope.join());
        EXPECT_EQ(answered, 30);
        EXPECT_EQ(client.open_count(), 3U);
      },
      options);
}

TEST_P(ClientCallTest, TalksOverAUnixSocket) {
  const std::string path = "/tmp/sennit-client-test-" + std::to_string(::getpid()) +
                           ::testing::PrintToString(GetParam());
  options_.host = "unix:" + path;
  start();
  with_client([&](Client& client) {
    std::string encoded;
    append_percent_encoded(encoded, path);
    EXPECT_EQ(show(wait(client.get("http+unix://" + encoded + "/status"))), "200 hello world");
    EXPECT_EQ(show(wait(client.get("http+unix://%2Fnobody%2Fhere/"))), "connect: not found");
  });
}

TEST_P(ClientCallTest, FindsTheHostThroughItsResolverAndTriesEachAddress) {
  start();
  ClientOptions options = client_options();
  // Nobody listens at the first; each call begins with another address.
  options.resolver.table["service.test"] = {"127.0.0.2", "127.0.0.1"};
  with_client(
      [&](Client& client) {
        const std::string there =
            "http://service.test:" + std::to_string(server_.port()) + "/status";
        for (int i = 0; i < 4; ++i) {
          const ClientResult got = wait(client.get(there).header("Connection", "close"));
          EXPECT_EQ(show(got), "200 hello world");
        }
        EXPECT_EQ(show(wait(client.get("http://absent.test/"))), "resolve: not found");
      },
      options);
}

TEST_P(ClientCallTest, CountsByOrigin) {
  start();
  metrics::Registry registry({.slots = 2});
  ClientOptions options = client_options();
  options.registry = &registry;
  with_client(
      [&](Client& client) {
        wait(client.get(url("/status")));
        wait(client.get(url("/absent")));
      },
      options);
  std::string text;
  registry.for_each(
      [&](const std::string& name, const std::string&, const auto&) { text += name + " "; });
  EXPECT_NE(text.find("http_client_requests_total"), std::string::npos) << text;
  const auto& requests = registry.counter("http_client_requests_total", "", {"origin"});
  std::uint64_t total = 0;
  requests.for_each(
      [&](const auto&, const metrics::Counter& counter) { total += counter.value(); });
  EXPECT_EQ(total, 2U);
}

SENNIT_FOR_EACH_BACKEND(ClientCallTest);

}  // namespace
}  // namespace sennit::http
