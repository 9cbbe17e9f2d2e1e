#include "sennit/http/h1/serializer.hpp"

#include <gtest/gtest.h>
#include <string>

#include "sennit/http/h1/parser.hpp"

namespace sennit::http::h1 {
namespace {

using namespace std::literals;

std::string written(const Response& response, bool head_request = false, bool keep_alive = true,
                    int minor_version = 1, std::string_view date = "Date: D\r\n") {
  Buffer out;
  write_response(out, response, head_request, keep_alive, minor_version, date);
  return std::string(out.view());
}

TEST(WriteResponse, WritesHeadAndBody) {
  EXPECT_EQ(written(text("hello world")),
            "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 11\r\n\r\nhello world");
  EXPECT_EQ(written(empty(Status::not_found)),
            "HTTP/1.1 404 Not Found\r\nDate: D\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(written(static_text("hi"), false, true, 1, ""),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 2\r\n\r\nhi");
  EXPECT_EQ(written(empty(static_cast<Status>(299))),
            "HTTP/1.1 299 \r\nDate: D\r\nContent-Length: 0\r\n\r\n");
}

TEST(WriteResponse, WritesNoBodyWhereNoneMayBe) {
  EXPECT_EQ(written(text("hello"), true),
            "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Type: text/plain; charset=utf-8\r\n"
            "Content-Length: 5\r\n\r\n");
  EXPECT_EQ(written(text(Status::no_content, "x")).find("x\r\n\r\n"), std::string::npos);
  for (const Status status :
       {Status::continue_, Status::early_hints, Status::no_content, Status::not_modified}) {
    Response response(status);
    response.set_body("body");
    const std::string bytes = written(response);
    EXPECT_TRUE(bytes.ends_with("\r\n\r\n")) << bytes;
    EXPECT_EQ(bytes.find("Content-Length"), std::string::npos) << bytes;
  }
}

TEST(WriteResponse, SaysWhetherTheConnectionGoesOnWhereItMustBeSaid) {
  struct Row {
    bool keep_alive;
    int minor_version;
    std::string_view want;
  };
  for (const auto& [keep_alive, minor_version, want] : {
           Row{true, 1, ""},
           Row{false, 1, "Connection: close\r\n"},
           Row{true, 0, "Connection: keep-alive\r\n"},
           Row{false, 0, "Connection: close\r\n"},
       }) {
    EXPECT_EQ(written(empty(Status::ok), false, keep_alive, minor_version),
              "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 0\r\n" + std::string(want) + "\r\n");
  }
}

TEST(WriteResponse, LeavesFramingToItselfAndTheRestToTheHandler) {
  Response response = text("abc");
  for (const auto& [name, value] : {
           std::pair{"X-One", "1"},
           std::pair{"content-length", "999"},
           std::pair{"Transfer-Encoding", "chunked"},
           std::pair{"CONNECTION", "upgrade"},
           std::pair{"Date", "yesterday"},
           std::pair{"content-type", "image/png"},
           std::pair{"X-Two", ""},
       }) {
    ASSERT_TRUE(response.headers().add(name, value));
  }
  EXPECT_EQ(written(response),
            "HTTP/1.1 200 OK\r\nX-One: 1\r\ncontent-type: image/png\r\nX-Two: \r\nDate: D\r\n"
            "Content-Length: 3\r\n\r\nabc");
}

TEST(WriteResponse, AppendsToWhatIsThere) {
  Buffer out;
  for (int i = 0; i < 1'000; ++i) write_response(out, text("a"), false, true, 1, "");
  const std::string one = written(text("a"), false, true, 1, "");
  ASSERT_EQ(out.size(), 1'000 * one.size());
  EXPECT_TRUE(out.view().starts_with(one));
  EXPECT_TRUE(out.view().ends_with(one));
}

TEST(WriteResponse, LeavesTheBodyToTheCallerIfAsked) {
  Buffer out;
  EXPECT_TRUE(write_response_head(out, text("abc"), false, true, 1, ""));
  EXPECT_TRUE(out.view().ends_with("Content-Length: 3\r\n\r\n"));
  EXPECT_FALSE(write_response_head(out, text("abc"), true, true, 1, ""));
  EXPECT_FALSE(write_response_head(out, text(""), false, true, 1, ""));
  EXPECT_FALSE(write_response_head(out, empty(Status::not_modified), false, true, 1, ""));
}

TEST(WriteRequestHead, RefusesWhatWouldBreakOutOfItsLine) {
  struct Row {
    std::string_view method, target, host;
  };
  for (const auto& [method, target, host] : {
           Row{"", "/", "a"},
           Row{"GET X", "/", "a"},
           Row{"GET\r\n", "/", "a"},
           Row{"GET", "", "a"},
           Row{"GET", "/ HTTP/1.1\r\nX: ", "a"},
           Row{"GET", "/a b", "a"},
           Row{"GET", "/\n", "a"},
           Row{"GET", "/#f", "a"},
           Row{"GET", "/", ""},
           Row{"GET", "/", "a\r\nX: y"},
           Row{"GET", "/", "u@a"},
       }) {
    Buffer out;
    const auto result = write_request_head(out, method, target, host, {});
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), Errc::invalid_argument);
    EXPECT_EQ(out.view(), "");
  }
}

TEST(WriteRequestHead, WritesWhatTheParserReads) {
  Headers headers;
  for (const auto& [name, value] :
       {std::pair{"Accept", "*/*"}, std::pair{"Host", "evil"}, std::pair{"Content-Length", "9"}}) {
    ASSERT_TRUE(headers.add(name, value));
  }
  Buffer out;
  ASSERT_TRUE(write_request_head(out, "POST", "/a?b", "h:80", headers, 5));
  EXPECT_EQ(out.view(),
            "POST /a?b HTTP/1.1\r\nHost: h:80\r\nAccept: */*\r\nContent-Length: 5\r\n\r\n");
  RequestHead head;
  ASSERT_EQ(parse_request_head(out.view(), {}, head).status, ParseStatus::complete);
  EXPECT_EQ(head.content_length, 5U);

  out.clear();
  ASSERT_TRUE(write_request_head(out, "GET", "/", "h", {}));
  EXPECT_EQ(out.view(), "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
}

TEST(HttpDate, IsTheFixedFormat) {
  struct Row {
    std::int64_t seconds;
    std::string_view want;
  };
  for (const auto& [since_epoch, want] : {
           Row{784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
           Row{0, "Thu, 01 Jan 1970 00:00:00 GMT"},
           Row{-1, "Wed, 31 Dec 1969 23:59:59 GMT"},
           Row{951782399, "Mon, 28 Feb 2000 23:59:59 GMT"},
           Row{951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
           Row{1709251199, "Thu, 29 Feb 2024 23:59:59 GMT"},
           Row{4102444800, "Fri, 01 Jan 2100 00:00:00 GMT"},
       }) {
    EXPECT_EQ(http_date(WallTime(std::chrono::seconds(since_epoch))), want);
  }
  EXPECT_EQ(http_date(WallTime(784111777s + 999ms)), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date_line(WallTime(0s)), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
}

}  // namespace
}  // namespace sennit::http::h1
