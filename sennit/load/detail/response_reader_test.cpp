#include "sennit/load/detail/response_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace sennit::load::detail {
namespace {

using Status = ResponseReader::Status;
using http::Method;

/// Gives `bytes` in pieces of at most `piece`; how far it got, and with which status.
ResponseReader::Step feed(ResponseReader& reader, std::string_view bytes, std::size_t piece) {
  std::size_t consumed = 0;
  while (consumed < bytes.size()) {
    const auto step = reader.take(bytes.substr(consumed, piece));
    consumed += step.consumed;
    if (step.status != Status::partial) return {step.status, consumed};
  }
  return {Status::partial, consumed};
}

TEST(ResponseReader, RefusesWhatIsNoResponseHoweverItIsSplit) {
  for (const std::string_view bytes : {
           "SSH-2.0-OpenSSH_9.2\r\n",
           "HTTP/2.0 200 OK\r\n\r\n",
           "HTTP/1.1 20 OK\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
       }) {
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      SCOPED_TRACE(std::string(bytes) + " in pieces of " + std::to_string(piece));
      ResponseReader reader;
      reader.begin(Method::get);
      EXPECT_EQ(feed(reader, bytes, piece).status, Status::error);
      EXPECT_STRNE(reader.reason(), "");
    }
  }
}

TEST(ResponseReader, FindsTheEndHoweverItIsSplit) {
  struct Case {
    Method method;
    std::string_view response;
    int http_status;
    bool keep_alive;
  };
  for (const auto& [method, response, http_status, keep_alive] : {
           Case{Method::get, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, true},
           Case{Method::get, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, true},
           Case{Method::head, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 200, true},
           Case{Method::get, "HTTP/1.1 204 No Content\r\n\r\n", 204, true},
           Case{Method::get, "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", 304, true},
           Case{Method::get, "HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\nx", 404, true},
           Case{Method::get, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
                200, false},
           Case{Method::get, "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, false},
           Case{Method::get,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n",
                200, true},
           Case{Method::get,
                "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
                "HTTP/1.1 100 Continue\r\n\r\n"
                "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok",
                201, true},
           Case{Method::get, "HTTP/1.1 101 Switching Protocols\r\n\r\n", 101, false},
       }) {
    const std::string bytes = std::string(response) + "HTTP/1.1 the next one";
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
      SCOPED_TRACE(std::string(response) + " in pieces of " + std::to_string(piece));
      ResponseReader reader;
      reader.begin(method);
      const auto step = feed(reader, bytes, piece);
      ASSERT_EQ(step.status, Status::complete) << reader.reason();
      EXPECT_EQ(step.consumed, response.size());
      EXPECT_EQ(reader.http_status(), http_status);
      EXPECT_EQ(reader.keep_alive(), keep_alive);
    }
  }
}

TEST(ResponseReader, ReadsOneResponseAfterTheOther) {
  ResponseReader reader;
  for (const std::string_view bytes :
       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"}) {
    reader.begin(Method::get);
    EXPECT_EQ(feed(reader, bytes, 7).status, Status::complete);
  }
}

TEST(ResponseReader, TakesTheEndOfTheStreamForTheEndOfABodyWithoutLength) {
  ResponseReader reader;
  reader.begin(Method::get);
  EXPECT_EQ(feed(reader, "HTTP/1.0 200 OK\r\n\r\nsome text", 4).status, Status::partial);
  EXPECT_EQ(reader.end(), Status::complete);
  EXPECT_EQ(reader.http_status(), 200);
  EXPECT_FALSE(reader.keep_alive());
}

TEST(ResponseReader, TakesTheEndOfTheStreamElsewhereForAnError) {
  for (const std::string_view bytes :
       {"", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"}) {
    SCOPED_TRACE(bytes);
    ResponseReader reader;
    reader.begin(Method::get);
    EXPECT_EQ(feed(reader, bytes, 100).status, Status::partial);
    EXPECT_EQ(reader.end(), Status::error);
  }
}

}  // namespace
}  // namespace sennit::load::detail
