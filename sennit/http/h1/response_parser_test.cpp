#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "sennit/http/h1/parser.hpp"

namespace sennit::http::h1 {
namespace {

using namespace std::literals;

std::string response_answer(std::string_view bytes, Method method = Method::get,
                            const Limits& limits = {}) {
  const auto copy = std::make_unique_for_overwrite<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  ResponseHead head;
  const auto outcome = parse_response_head({copy.get(), bytes.size()}, limits, method, head);
  if (outcome.status == ParseStatus::partial) return "partial";
  if (outcome.status == ParseStatus::error) {
    return std::to_string(outcome.http_status) + " " + outcome.reason;
  }
  std::string text = std::to_string(head.status) + " " + std::string(head.reason.in(copy.get()));
  text +=
      " 1." + std::to_string(head.minor_version) + " fields=" + std::to_string(head.field_count);
  switch (head.body) {
    case Body::none:
      text += " none";
      break;
    case Body::length:
      text += " length=" + std::to_string(head.content_length);
      break;
    case Body::chunked:
      text += " chunked";
      break;
    case Body::until_close:
      text += " until_close";
      break;
  }
  text += head.keep_alive ? " keep" : " close";
  return text + " bytes=" + std::to_string(head.head_bytes);
}

void expect_same_response_however_split(std::string_view bytes, Method method,
                                        const Limits& limits = {}) {
  const std::string whole = response_answer(bytes, method, limits);
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    const std::string first = response_answer(bytes.substr(0, at), method, limits);
    if (first != "partial") {
      ASSERT_EQ(first, whole) << "after " << at;
    }
  }
  if (whole != "partial") {
    EXPECT_EQ(response_answer(std::string(bytes) + "\n\r\0:"s, method, limits), whole);
  }
}

struct ResponseRow {
  std::string bytes;
  std::string want;
  Method method = Method::get;
};

TEST(ResponseHead, IsRefusedIfMalformedHoweverSplit) {
  const std::string line = "HTTP/1.1 200 OK\r\n";
  const ResponseRow rows[] = {
      {"GET / HTTP/1.1\r\n", "502 malformed protocol version"},
      {"\r\nHTTP/1.1 200 OK\r\n", "502 malformed protocol version"},
      {"HTTP/2.0 200 OK\r\n", "502 unsupported protocol version"},
      {"HTTP/1.1  200 OK\r\n", "502 malformed status line"},
      {"HTTP/1.1 20 OK\r\n", "502 malformed status line"},
      {"HTTP/1.1 2000 OK\r\n", "502 malformed status line"},
      {"HTTP/1.1 +20 OK\r\n", "502 malformed status line"},
      {"HTTP/1.1 200\n", "502 malformed status line"},
      {"HTTP/1.1 099 OK\r\n", "502 status code out of range"},
      {"HTTP/1.1 600 OK\r\n", "502 status code out of range"},
      {"HTTP/1.1 200 O\0K\r\n"s, "502 control character in the status line"},
      {"HTTP/1.1 200 OK\n", "502 control character in the status line"},
      {"HTTP/1.1 200 OK\rX", "502 carriage return without line feed"},
      {line + "A : b\r\n\r\n", "502 whitespace after a field name"},
      {line + "A: b\n\r\n", "502 line feed without carriage return"},
      {line + "A: b\r\n c\r\n\r\n", "502 whitespace before a field name, or a folded line"},
      {line + "Content-Length: 1, 1\r\n\r\n", "502 Content-Length is not a length"},
      {line + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n", "502 more than one Content-Length"},
      {line + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
       "502 Content-Length beside Transfer-Encoding"},
      {line + "Transfer-Encoding: gzip, chunked\r\n\r\n",
       "502 Transfer-Encoding is not exactly chunked"},
      {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
       "502 Transfer-Encoding in HTTP/1.0"},
  };
  for (const ResponseRow& row : rows) {
    SCOPED_TRACE(row.bytes);
    EXPECT_EQ(response_answer(row.bytes, row.method), row.want);
    expect_same_response_however_split(row.bytes, row.method);
  }
}

TEST(ResponseHead, TellsWhereItsBodyEnds) {
  const std::string length = "Content-Length: 5\r\n\r\n";
  const std::string chunked = "Transfer-Encoding: chunked\r\n\r\n";
  const ResponseRow rows[] = {
      {"HTTP/1.1 200 OK\r\n" + length, "200 OK 1.1 fields=1 length=5 keep bytes=38"},
      {"HTTP/1.1 200 OK\r\n" + chunked, "200 OK 1.1 fields=1 chunked keep bytes=47"},
      {"HTTP/1.1 200 OK\r\n\r\n", "200 OK 1.1 fields=0 until_close close bytes=19"},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "200 OK 1.1 fields=1 none keep bytes=38"},
      {"HTTP/1.1 200 \r\n" + length, "200  1.1 fields=1 length=5 keep bytes=36"},
      {"HTTP/1.1 200\r\n" + length, "200  1.1 fields=1 length=5 keep bytes=35"},
      {"HTTP/1.1 404 Not  F\xc3\xbcnd\r\n" + length,
       "404 Not  F\xc3\xbcnd 1.1 fields=1 length=5 keep bytes=46"},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\n" + length,
       "200 OK 1.1 fields=2 length=5 close bytes=57"},
      {"HTTP/1.0 200 OK\r\n" + length, "200 OK 1.0 fields=1 length=5 close bytes=38"},
      {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + length,
       "200 OK 1.0 fields=2 length=5 keep bytes=62"},
      {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n",
       "200 OK 1.0 fields=1 until_close close bytes=43"},
      {"HTTP/1.1 100 Continue\r\n\r\n", "100 Continue 1.1 fields=0 none keep bytes=25"},
      {"HTTP/1.1 204 No\r\n" + length, "204 No 1.1 fields=1 none keep bytes=38"},
      {"HTTP/1.1 304 No\r\n" + chunked, "304 No 1.1 fields=1 none keep bytes=47"},
      {"HTTP/1.1 200 OK\r\n" + length, "200 OK 1.1 fields=1 none keep bytes=38", Method::head},
      {"HTTP/1.1 200 OK\r\n\r\n", "200 OK 1.1 fields=0 none keep bytes=19", Method::head},
      {"HTTP/1.1 200 OK\r\n" + length, "200 OK 1.1 fields=1 none keep bytes=38", Method::connect},
      {"HTTP/1.1 403 No\r\n" + length, "403 No 1.1 fields=1 length=5 keep bytes=38",
       Method::connect},
  };
  for (const ResponseRow& row : rows) {
    SCOPED_TRACE(row.bytes);
    EXPECT_EQ(response_answer(row.bytes, row.method), row.want);
    expect_same_response_however_split(row.bytes, row.method);
  }
}

TEST(ResponseHead, KeepsToItsLimitsHoweverSplit) {
  const Limits limits{.uri_bytes_max = 4, .header_bytes_max = 10, .header_count_max = 2};
  const ResponseRow rows[] = {
      {"HTTP/1.1 200 Okay", "partial"},
      {"HTTP/1.1 200 Okay!", "502 reason phrase too long"},
      {"HTTP/1.1 200 OK\r\nA:1\r\nBC\r\n\r\n", "502 byte that no field name may hold"},
      {"HTTP/1.1 200 OK\r\nA:1\r\nB:\r\nC", "502 too many fields"},
      {"HTTP/1.1 200 OK\r\nA:12345678", "502 header fields too large"},
  };
  for (const ResponseRow& row : rows) {
    SCOPED_TRACE(row.bytes);
    EXPECT_EQ(response_answer(row.bytes, row.method, limits), row.want);
    expect_same_response_however_split(row.bytes, row.method, limits);
  }
}

}  // namespace
}  // namespace sennit::http::h1
