#include "sennit/http/body.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sennit/http/response_stream.hpp"
#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using testing::body_of;
using testing::RawClient;
using testing::status_of;

// Handlers that stream, each as a plain function and as a coroutine.
class BodyStreamTest : public testing::ServerTest {
 protected:
  BodyStreamTest() {
    server_.post("/count", [](Request&, BodyReader& body) -> Result<Response> {
      std::size_t bytes = 0;
      for (;;) {
        const Result<std::string_view> piece = wait(body.read());
        if (!piece) return failure(piece.error());
        if (piece->empty()) return text(std::to_string(bytes));
        bytes += piece->size();
      }
    });
    server_.post("/upper", [](BodyReader& body) -> Task<Result<Response>> {
      std::string all;
      for (;;) {
        const Result<std::string_view> piece = co_await body.read();
        if (!piece) co_return failure(piece.error());
        if (piece->empty()) break;
        all += *piece;
      }
      std::ranges::transform(all, all.begin(), [](char c) { return static_cast<char>(c ^ 0x20); });
      co_return text(std::move(all));
    });
    server_.post("/deaf", [](Request&, BodyReader&) { return text("not listening"); });
  }

  static std::string post(std::string_view path, std::string_view body) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
  }
  static std::string post_chunks(std::string_view path, std::string_view chunks) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunks);
  }
  static std::string unchunked(std::string_view chunks) {
    h1::ChunkedDecoder decoder;
    std::string body;
    for (;;) {
      const auto step = decoder.next(chunks);
      chunks.remove_prefix(step.consumed);
      body += step.data;
      if (step.status == h1::ParseStatus::complete) return body;
      if (step.status == h1::ParseStatus::error || chunks.empty()) return "not ended: " + body;
    }
  }
};

TEST_P(BodyStreamTest, ReadsBodiesAsTheyArriveHoweverTheyAreFramedAndSplit) {
  start();
  const std::string all = post("/upper", "hello") +
                          post_chunks("/upper", "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nA: b\r\n\r\n") +
                          post("/count", "") + post("/count", "1234") + get("/status");
  for (std::size_t split = 0; split <= all.size(); split += 3) {
    SCOPED_TRACE(split);
    RawClient one = client();
    one.send(std::string_view(all).substr(0, split));
    one.send(std::string_view(all).substr(split));
    EXPECT_EQ(body_of(one.response()), "HELLO");
    EXPECT_EQ(body_of(one.response()), "ABCDE");
    EXPECT_EQ(body_of(one.response()), "0");
    EXPECT_EQ(body_of(one.response()), "4");
    EXPECT_EQ(body_of(one.response()), "hello world");
  }
  RawClient drip = client();
  drip.send_byte_by_byte(all);
  EXPECT_EQ(body_of(drip.response()), "HELLO");
  EXPECT_EQ(body_of(drip.response()), "ABCDE");
}

TEST_P(BodyStreamTest, TakesALargeBodyThatItNeverHoldsWhole) {
  options_.body_bytes_max = 1000;  // For bodies that are held; this one is not.
  start();
  RawClient one = client();
  const std::string piece(1 << 20, 'x');
  one.send("POST /count HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(8 << 20) +
           "\r\n\r\n");
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(one.send(piece));
  EXPECT_EQ(body_of(one.response()), std::to_string(8 << 20));
  one.send(get("/status"));
  EXPECT_EQ(body_of(one.response()), "hello world");
}

TEST_P(BodyStreamTest, AsksForABodyOnlyWhenItIsRead) {
  start();
  const std::string head =
      " HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
  RawClient wanted = client();
  wanted.send("POST /count" + head);
  EXPECT_EQ(wanted.response(), "HTTP/1.1 100 Continue\r\n\r\n");
  wanted.send("hello");
  EXPECT_EQ(body_of(wanted.response()), "5");
  for (const auto& [path, status] :
       std::vector<std::pair<std::string, int>>{{"/deaf", 200}, {"/nowhere", 404}}) {
    RawClient unwanted = client();
    unwanted.send("POST " + path + head);
    const std::string answer = unwanted.read_to_end();
    EXPECT_EQ(status_of(answer), status);
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << "or who knows what";
  }
}

TEST_P(BodyStreamTest, DropsWhatAHandlerLeavesAndGoesOnUnlessItIsMuch) {
  start();
  RawClient one = client();
  one.send(post("/deaf", std::string(100'000, 'x')) +
           post_chunks("/deaf", "3\r\nabc\r\n0\r\n\r\n") + post("/nowhere", "lost") +
           get("/status"));
  EXPECT_EQ(body_of(one.response()), "not listening");
  EXPECT_EQ(body_of(one.response()), "not listening");
  EXPECT_EQ(status_of(one.response()), 404);
  EXPECT_EQ(body_of(one.response()), "hello world");
  RawClient much = client();
  much.send("POST /deaf HTTP/1.1\r\nHost: t\r\nContent-Length: 100000000\r\n\r\n");
  EXPECT_NE(much.read_to_end().find("\r\nConnection: close\r\n"), std::string::npos);
}

TEST_P(BodyStreamTest, TellsAHandlerWhatIsWrongWithABodyAndTheClientToo) {
  options_.stream_bytes_max = 10;
  start();
  struct Case {
    std::string request;
    int status;
  };
  for (const Case& each : {
           Case{post_chunks("/count", "3\r\nabcX\r\n"), 400},
           Case{post_chunks("/upper", "z\r\n"), 400},
           Case{post_chunks("/upper", "b\r\n"), 413},
           Case{post("/count", "12345678901"), 413},
           Case{post("/upper", "12345678901"), 413},
       }) {
    SCOPED_TRACE(each.request);
    RawClient one = client();
    one.send(each.request);
    EXPECT_EQ(status_of(one.read_to_end()), each.status);
  }
  RawClient half = client();
  half.send("POST /upper HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nabc");
  half.half_close();
  EXPECT_EQ(status_of(half.read_to_end()), 400);
}

TEST_P(BodyStreamTest, AnswersABodyThatDoesNotComeWithATimeout) {
  options_.body_timeout = 20ms;
  start();
  for (const auto* path : {"/count", "/upper", "/echo"}) {
    RawClient one = client();
    one.send("POST " + std::string(path) + " HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nabc");
    EXPECT_EQ(status_of(one.read_to_end()), 408) << path;
  }
}

// A byte now and then is progress, and still an attack.
TEST_P(BodyStreamTest, AsksForALeastRateOfBodies) {
  options_.body_rate_min = 1000;
  options_.body_rate_grace = 50ms;
  start();
  for (const auto* path : {"/count", "/echo"}) {
    RawClient one = client();
    one.send("POST " + std::string(path) + " HTTP/1.1\r\nHost: t\r\nContent-Length: 5000\r\n\r\n");
    std::jthread drip([&one](const std::stop_token& stop) {
      while (!stop.stop_requested() && one.send("x")) std::this_thread::sleep_for(5ms);
    });
    EXPECT_EQ(status_of(one.read_to_end()), 408) << path;
  }
}

TEST_P(BodyStreamTest, SendsWhatAFunctionWritesInChunks) {
  server_.get("/lines", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) {
      for (int i = 0; i < 3; ++i) {
        if (!wait(out.write("line " + std::to_string(i) + "\n"))) return;
        wait(sleep_for(1ms));
      }
    });
  });
  server_.get("/lines-coro", [](Request&) -> Task<Response> {
    co_return stream("text/plain", [](BodyWriter& out) -> Task<> {
      for (int i = 0; i < 3; ++i) {
        const std::string line = "line " + std::to_string(i) + "\n";
        if (!co_await out.write(line)) co_return;
      }
    });
  });
  server_.get("/mixed", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) -> Task<Result<>> {
      co_return co_await out.write("line 0\nline 1\nline 2\n");
    });
  });
  server_.get("/known", [](Request&) -> Task<Response> {
    co_return stream("text/plain", [](BodyWriter& out) { (void)wait(out.write("12345")); }, 5);
  });
  server_.get("/nothing", [](Request&) { return stream("text/plain", [](BodyWriter&) {}); });
  start();
  RawClient one = client();
  const auto request = [](const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
  };
  for (const auto* path : {"/lines", "/lines-coro", "/mixed"}) {
    SCOPED_TRACE(path);
    RawClient each = client();
    each.send(request(path));
    const std::string answer = each.read_to_end();
    EXPECT_NE(answer.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos);
    EXPECT_EQ(unchunked(body_of(answer)), "line 0\nline 1\nline 2\n");
    RawClient old = client();
    old.send("GET " + std::string(path) + " HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    const std::string plain = old.read_to_end();
    EXPECT_EQ(plain.find("Transfer-Encoding"), std::string::npos);
    EXPECT_EQ(body_of(plain), "line 0\nline 1\nline 2\n");
  }
  RawClient empty = client();
  empty.send(request("/nothing"));
  EXPECT_EQ(unchunked(body_of(empty.read_to_end())), "");
  one.send(get("/known") + "HEAD /lines HTTP/1.1\r\nHost: t\r\n\r\n" + get("/status"));
  EXPECT_EQ(body_of(one.response()), "12345");
  EXPECT_EQ(status_of(one.response(true)), 200);
  EXPECT_EQ(body_of(one.response()), "hello world");
}

// Far more than sockets hold, in pieces of every kind.
TEST_P(BodyStreamTest, WritersWaitForSlowReaders) {
  static std::atomic<std::size_t> most_ahead = 0;
  most_ahead = 0;
  static std::atomic<std::size_t> written = 0;
  written = 0;
  server_.get("/much", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) -> Task<> {
      const std::string small(1000, 's');
      const std::string large(100'000, 'l');
      for (int i = 0; i < 400; ++i) {
        if (!co_await out.write(i % 2 == 0 ? small : large)) co_return;
        written += i % 2 == 0 ? small.size() : large.size();
      }
    });
  });
  start();
  RawClient one = client();
  one.send("GET /much HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
  const std::string body = unchunked(body_of(one.read_to_end()));
  EXPECT_EQ(body.size(), 200U * 101'000);
  EXPECT_EQ(std::ranges::count(body, 'l'), 200 * 100'000);
}

TEST_P(BodyStreamTest, EndsTheConnectionWithoutTheBodysEndWhenAWriterFails) {
  server_.get("/fails", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) -> Result<> {
      (void)wait(out.write("begun"));
      return failure(Errc::system, "go on");
    });
  });
  server_.get("/throws", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) -> Task<> {
      (void)co_await out.write("begun");
      throw std::runtime_error("x");
    });
  });
  server_.get("/short", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) { (void)wait(out.write("begun")); }, 10);
  });
  server_.get("/long", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) { (void)wait(out.write("too long")); }, 5);
  });
  start();
  for (const auto* path : {"/fails", "/throws", "/short", "/long"}) {
    SCOPED_TRACE(path);
    RawClient one = client();
    one.send(get(path));
    const std::string answer = one.read_to_end();
    EXPECT_EQ(status_of(answer), 200);
    EXPECT_EQ(answer.find("\r\n0\r\n\r\n"), std::string::npos);
    EXPECT_EQ(answer.find("too long"), std::string::npos);
  }
}

// Whatever a client does while bodies flow, the server lives and others are served.
TEST_P(BodyStreamTest, SurvivesClientsThatVanishWhileBodiesFlow) {
  static std::atomic<int> ended = 0;
  ended = 0;
  server_.get("/endless", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) -> Task<> {
      const std::string large(50'000, 'l');
      while (co_await out.write(large)) {
      }
      ++ended;
    });
  });
  start();
  std::vector<std::string> others;
  for (int i = 0; i < 8; ++i) {
    RawClient one = client();
    one.send(get("/endless"));
    if (i % 2 == 0) (void)one.is_ended();  // The answer has begun.
    one.reset();
    RawClient up = client();
    up.send("POST /count HTTP/1.1\r\nHost: t\r\nContent-Length: 500000\r\n\r\nabc");
    up.reset();
  }
  const auto give_up = std::chrono::steady_clock::now() + 60s;
  while (ended < 8 && std::chrono::steady_clock::now() < give_up) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(ended, 8) << "each writer was told that its client is gone";
  EXPECT_EQ(body_of(ask(get("/status"))), "hello world");
}

SENNIT_FOR_EACH_BACKEND(BodyStreamTest);

}  // namespace
}  // namespace sennit::http
