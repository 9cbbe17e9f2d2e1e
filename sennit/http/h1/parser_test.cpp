#include "sennit/http/h1/parser.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace sennit::http::h1 {
namespace {

using namespace std::literals;

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

/// Everything a parse answers, as text, so that two answers can be compared and printed.
std::string answer(std::string_view bytes, const Limits& limits = {}, std::size_t scanned = 0) {
  // A copy that ends where the input ends, so that AddressSanitizer sees every read behind it.
  const auto copy = std::make_unique_for_overwrite<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  RequestHead head;
  const auto outcome = parse_request_head({copy.get(), bytes.size()}, limits, head, scanned);
  if (outcome.status == ParseStatus::partial) return "partial";
  if (outcome.status == ParseStatus::error) {
    return std::to_string(outcome.http_status) + " " + outcome.reason;
  }
  const char* const base = copy.get();
  std::string text =
      std::string(head.method_name.in(base)) + " " + std::string(head.target.in(base)) + " 1." +
      std::to_string(head.minor_version) + " host=" + std::string(head.host.in(base));
  for (std::uint32_t i = 0; i < head.field_count; ++i) {
    text += " " + std::string(head.fields[i].name.in(base)) + "=" +
            std::string(head.fields[i].value.in(base));
  }
  text += head.body == Body::none ? "" : head.body == Body::chunked ? " chunked" : " length";
  if (head.body == Body::length) text += "=" + std::to_string(head.content_length);
  text += head.keep_alive ? " keep" : " close";
  text += head.expect_continue ? " expect" : "";
  return text + " bytes=" + std::to_string(head.head_bytes);
}

/// Feeds the input one byte after another and returns the first answer that is not partial.
std::string answer_in_drips(std::string_view bytes, const Limits& limits, bool resumed) {
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const std::size_t scanned = resumed && length > 0 ? length - 1 : 0;
    std::string given = answer(bytes.substr(0, length), limits, scanned);
    if (given != "partial") return given;
  }
  return "partial";
}

/// Whole; split at every position, with and without the resume hint; byte by byte; with more
/// behind.
void expect_same_however_split(std::string_view bytes, const Limits& limits = {}) {
  const std::string whole = answer(bytes, limits);
  EXPECT_EQ(answer_in_drips(bytes, limits, false), whole);
  EXPECT_EQ(answer_in_drips(bytes, limits, true), whole);
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    const std::string first = answer(bytes.substr(0, at), limits);
    ASSERT_EQ(first == "partial" ? answer(bytes, limits, at) : first, whole) << "split at " << at;
  }
  if (whole != "partial") {
    EXPECT_EQ(answer(std::string(bytes) + "GET / HTTP/1.1\r\n", limits), whole);
    EXPECT_EQ(answer(std::string(bytes) + "\n\r\0:"s, limits), whole);
  }
}

struct Refused {
  std::string_view name;
  std::string bytes;
  std::string want;
};
void PrintTo(const Refused& row, std::ostream* out) { *out << row.name; }

/// A GET whose fields are a Host and these.
std::string with(std::string_view fields) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n";
}

class RefusedHeads : public ::testing::TestWithParam<Refused> {};

TEST_P(RefusedHeads, AreRefusedHoweverSplit) {
  const Refused& row = GetParam();
  EXPECT_EQ(answer(row.bytes).substr(0, row.want.size()), row.want);
  expect_same_however_split(row.bytes);
}

const std::string two_lengths = "400 more than one Content-Length";
const std::string not_a_length = "400 Content-Length is not a length";
const std::string not_chunked = "400 Transfer-Encoding is not exactly chunked";
const std::string both = "400 Content-Length beside Transfer-Encoding";
const std::string not_a_host = "400 Host is not a host and port";

INSTANTIATE_TEST_SUITE_P(
    Framing, RefusedHeads,
    ::testing::Values(
        Refused{"cl then te", with("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), both},
        Refused{"te then cl", with("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), both},
        Refused{"te then cl 0", with("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), both},
        Refused{"cl twice", with("Content-Length: 3\r\nContent-Length: 3\r\n"), two_lengths},
        Refused{"cl twice 0", with("Content-Length: 0\r\ncontent-LENGTH: 0\r\n"), two_lengths},
        Refused{"cl list", with("Content-Length: 3, 3\r\n"), not_a_length},
        Refused{"cl empty", with("Content-Length:\r\n"), not_a_length},
        Refused{"cl plus", with("Content-Length: +3\r\n"), not_a_length},
        Refused{"cl minus", with("Content-Length: -3\r\n"), not_a_length},
        Refused{"cl hex", with("Content-Length: 0x3\r\n"), not_a_length},
        Refused{"cl letter", with("Content-Length: 3a\r\n"), not_a_length},
        Refused{"cl space", with("Content-Length: 3 3\r\n"), not_a_length},
        Refused{"cl fraction", with("Content-Length: 3.0\r\n"), not_a_length},
        Refused{"cl quoted", with("Content-Length: \"3\"\r\n"), not_a_length},
        Refused{"cl 2^63", with("Content-Length: 9223372036854775808\r\n"), not_a_length},
        Refused{"cl 2^64", with("Content-Length: 18446744073709551616\r\n"), not_a_length},
        Refused{"cl 20 digits", with("Content-Length: 00000000000000000003\r\n"), not_a_length},
        Refused{"te twice", with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                "400 more than one Transfer-Encoding"},
        Refused{"te list", with("Transfer-Encoding: chunked, chunked\r\n"), not_chunked},
        Refused{"te gzip", with("Transfer-Encoding: gzip, chunked\r\n"), not_chunked},
        Refused{"te not final", with("Transfer-Encoding: chunked, gzip\r\n"), not_chunked},
        Refused{"te identity", with("Transfer-Encoding: identity\r\n"), not_chunked},
        Refused{"te empty", with("Transfer-Encoding:\r\n"), not_chunked},
        Refused{"te comma", with("Transfer-Encoding: ,chunked\r\n"), not_chunked},
        Refused{"te case", with("Transfer-Encoding: Chunked\r\n"), not_chunked},
        Refused{"te quotes", with("Transfer-Encoding: \"chunked\"\r\n"), not_chunked},
        Refused{"te parameter", with("Transfer-Encoding: chunked;x\r\n"), not_chunked},
        Refused{"te x", with("Transfer-Encoding: xchunked\r\n"), not_chunked},
        Refused{"te tab", with("Transfer-Encoding:\tchunked\r\n"), not_chunked},
        Refused{"te tab and space", with("Transfer-Encoding:\t chunked\r\n"), not_chunked},
        Refused{"te tab after", with("Transfer-Encoding: chunked \t\r\n"), not_chunked},
        Refused{"te vt",
                with("Transfer-Encoding: \x0b"
                     "chunked\r\n"),
                "400 control character"},
        Refused{"te ff", with("Transfer-Encoding: chunked\x0c\r\n"), "400 control character"},
        Refused{"te nbsp",
                with("Transfer-Encoding: \xa0"
                     "chunked\r\n"),
                not_chunked},
        Refused{"te 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
                "400 Transfer-Encoding in HTTP/1.0"},
        Refused{"te get", "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                "400 Transfer-Encoding in a request without a body"},
        Refused{"te head", "HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                "400 Transfer-Encoding in a request without a body"},
        Refused{"cl trace", "TRACE / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "400 Content-Length in a request without a body"}));

INSTANTIATE_TEST_SUITE_P(
    Lines, RefusedHeads,
    ::testing::Values(
        Refused{"lf request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", "400 bytes after"},
        Refused{"lf field", "GET / HTTP/1.1\r\nHost: a\n\r\n", "400 line feed without"},
        Refused{"lf end", "GET / HTTP/1.1\r\nHost: a\r\n\n", "400 byte that no field name"},
        Refused{"lf first", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400 malformed method"},
        Refused{"cr request line", "GET / HTTP/1.1\rHost: a\r\n\r\n", "400 carriage return"},
        Refused{"cr field", "GET / HTTP/1.1\r\nHost: a\rb: c\r\n\r\n", "400 carriage return"},
        Refused{"cr end", "GET / HTTP/1.1\r\nHost: a\r\n\rX", "400 carriage return"},
        Refused{"cr cr lf", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", "400 carriage return"},
        Refused{"cr first", "\rGET / HTTP/1.1\r\nHost: a\r\n\r\n", "400 carriage return"},
        Refused{"two empty lines", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
                "400 malformed method"},
        Refused{"fold space", with("X: a\r\n b\r\n"), "400 whitespace before a field name"},
        Refused{"fold tab", with("X: a\r\n\tb\r\n"), "400 whitespace before a field name"},
        Refused{"space before first", "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
                "400 whitespace before"},
        Refused{"space after name", with("X : a\r\n"), "400 whitespace after a field name"},
        Refused{"tab after name", with("X\t: a\r\n"), "400 whitespace after a field name"},
        Refused{"space in name", with("X Y: a\r\n"), "400 whitespace after a field name"},
        Refused{"empty name", with(": a\r\n"), "400 empty field name"},
        Refused{"no colon", with("X\r\n"), "400 byte that no field name may hold"},
        Refused{"nul in name", with("X\0: a\r\n"sv), "400 byte that no field name may hold"},
        Refused{"high byte in name", with("X\xc3\xa9: a\r\n"), "400 byte that no field name"},
        Refused{"nul in value", with("X: a\0b\r\n"sv), "400 control character"},
        Refused{"escape in value", with("X: a\x1b[0m\r\n"), "400 control character"},
        Refused{"del in value", with("X: a\x7f\r\n"), "400 control character"}));

INSTANTIATE_TEST_SUITE_P(
    RequestLines, RefusedHeads,
    ::testing::Values(
        Refused{"tls hello", "\x16\x03\x01\x02"s, "400 malformed method"},
        Refused{"space first", " GET / HTTP/1.1\r\n\r\n", "400 malformed method"},
        Refused{"no target", "GET\r\n\r\n", "400 malformed method"},
        Refused{"method with colon", "GE:T / HTTP/1.1\r\n\r\n", "400 malformed method"},
        Refused{"method tab", "GET\t/ HTTP/1.1\r\n\r\n", "400 malformed method"},
        Refused{"method long", repeated("M", 33), "501 method too long"},
        Refused{"two spaces", "GET  / HTTP/1.1\r\n\r\n", "400 malformed request target"},
        Refused{"0.9", "GET /\r\n\r\n", "400 malformed request target"},
        Refused{"relative", "GET a HTTP/1.1\r\nHost: a\r\n\r\n", "400 malformed request target"},
        Refused{"fragment", "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", "400 malformed request target"},
        Refused{"nul target", "GET /\0 HTTP/1.1\r\n\r\n"s, "400 malformed request target"},
        Refused{"high target", "GET /\xc3\xa9 HTTP/1.1\r\n\r\n", "400 malformed request target"},
        Refused{"tab target", "GET /\t HTTP/1.1\r\n\r\n", "400 malformed request target"},
        Refused{"target long", "GET /" + repeated("a", 8192), "414 request target too long"},
        Refused{"lower case", "GET / http/1.1\r\n\r\n", "400 malformed protocol version"},
        Refused{"two digits", "GET / HTTP/1.10\r\n\r\n", "400 bytes after the protocol version"},
        Refused{"no minor", "GET / HTTP/1\r\n\r\n", "400 malformed protocol version"},
        Refused{"space after version", "GET / HTTP/1.1 \r\n\r\n", "400 bytes after"},
        Refused{"2.0", "GET / HTTP/2.0\r\n\r\n", "505 unsupported protocol version"},
        Refused{"0.9 named", "GET / HTTP/0.9\r\n\r\n", "505 unsupported protocol version"},
        Refused{"h2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 unsupported protocol"},
        Refused{"star get", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", "400 request target * without"},
        Refused{"foreign scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
                "400 request target of"},
        Refused{"absolute without host", "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n",
                "400 request target without a valid host"},
        Refused{"absolute with user", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
                "400 request target without a valid host"},
        Refused{"connect origin", "CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n", "400 CONNECT target"},
        Refused{"connect without port", "CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n",
                "400 CONNECT target"},
        Refused{"connect empty port", "CONNECT a: HTTP/1.1\r\nHost: a\r\n\r\n", "400 CONNECT"},
        Refused{"connect v6 without port", "CONNECT [::1] HTTP/1.1\r\nHost: a\r\n\r\n", "400 CONN"},
        Refused{"authority get", "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", "400 malformed request"}));

INSTANTIATE_TEST_SUITE_P(
    Hosts, RefusedHeads,
    ::testing::Values(
        Refused{"none", "GET / HTTP/1.1\r\n\r\n", "400 no Host"},
        Refused{"none absolute", "GET http://a/ HTTP/1.1\r\n\r\n", "400 no Host"},
        Refused{"twice", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400 more than one Host"},
        Refused{"twice 1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "400 more than one"},
        Refused{"empty", "GET / HTTP/1.1\r\nHost:\r\n\r\n", not_a_host},
        Refused{"list", "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n", not_a_host},
        Refused{"spaces", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", not_a_host},
        Refused{"user", "GET / HTTP/1.1\r\nHost: u:p@a\r\n\r\n", not_a_host},
        Refused{"path", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", not_a_host},
        Refused{"port letters", "GET / HTTP/1.1\r\nHost: a:8o\r\n\r\n", not_a_host},
        Refused{"port large", "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", not_a_host},
        Refused{"port long", "GET / HTTP/1.1\r\nHost: a:000080\r\n\r\n", not_a_host},
        Refused{"port only", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n", not_a_host},
        Refused{"two ports", "GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n", not_a_host},
        Refused{"v6 open", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", not_a_host},
        Refused{"v6 empty", "GET / HTTP/1.1\r\nHost: []\r\n\r\n", not_a_host},
        Refused{"v6 junk", "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n", not_a_host}));

struct Accepted {
  std::string bytes;
  std::string want;
};

TEST(RequestHead, IsParsedHoweverSplit) {
  const Accepted rows[] = {
      {"GET /status HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n",
       "GET /status 1.1 host=127.0.0.1:8080 Host=127.0.0.1:8080 keep bytes=46"},
      {"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / 1.1 host=a Host=a keep bytes=29"},
      {"GET / HTTP/1.0\r\n\r\n", "GET / 1.0 host= close bytes=18"},
      {"GET / HTTP/1.9\r\nHost: a\r\n\r\n", "GET / 1.1 host=a Host=a keep bytes=27"},
      {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
       "GET / 1.0 host= Connection=Keep-Alive keep bytes=42"},
      {with("Connection: foo, CLOSE\r\n"),
       "POST / 1.1 host=a Host=a Connection=foo, CLOSE close bytes=52"},
      {with("Connection: closed\r\n"), "POST / 1.1 host=a Host=a Connection=closed keep bytes=48"},
      {with("Connection: close\r\nConnection: keep-alive\r\n"),
       "POST / 1.1 host=a Host=a Connection=close Connection=keep-alive close bytes=71"},
      {with("X:\r\nY: \t a \t \r\n"), "POST / 1.1 host=a Host=a X= Y=a keep bytes=43"},
      {with("X: caf\xc3\xa9 \"q\" a:b\r\n"),
       "POST / 1.1 host=a Host=a X=caf\xc3\xa9 \"q\" a:b keep bytes=46"},
      {with("Content-Length: 0\r\n"), "POST / 1.1 host=a Host=a Content-Length=0 keep bytes=47"},
      {with("CONTENT-LENGTH:9223372036854775807\r\n"),
       "POST / 1.1 host=a Host=a CONTENT-LENGTH=9223372036854775807 length=9223372036854775807 "
       "keep bytes=64"},
      {with("transfer-encoding:   chunked  \r\n"),
       "POST / 1.1 host=a Host=a transfer-encoding=chunked chunked keep bytes=60"},
      {with("Expect: 100-Continue\r\n"),
       "POST / 1.1 host=a Host=a Expect=100-Continue keep bytes=50"},
      {with("Expect: 100-continue\r\nContent-Length: 1\r\n"),
       "POST / 1.1 host=a Host=a Expect=100-continue Content-Length=1 length=1 keep expect "
       "bytes=69"},
      {"PROPFIND /a|b?{x} HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
       "PROPFIND /a|b?{x} 1.1 host=[::1]:80 Host=[::1]:80 keep bytes=46"},
      {"GET HTTP://b:1?q HTTP/1.1\r\nHost: a\r\n\r\n",
       "GET HTTP://b:1?q 1.1 host=b:1 Host=a keep bytes=38"},
      {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * 1.1 host=a Host=a keep bytes=31"},
      {"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
       "CONNECT a:443 1.1 host=a:443 Host=a keep bytes=35"},
  };
  for (const Accepted& row : rows) {
    SCOPED_TRACE(row.bytes);
    EXPECT_EQ(answer(row.bytes), row.want);
    expect_same_however_split(row.bytes);
  }
}

TEST(RequestHead, SplitsItsTargetIntoPathAndQuery) {
  struct Row {
    std::string_view method, target, path, query;
  };
  for (const auto& [method, target, path, query] : {
           Row{"GET", "/", "/", ""},
           Row{"GET", "/a/b?c=d?e", "/a/b", "c=d?e"},
           Row{"GET", "/a?", "/a", ""},
           Row{"GET", "//evil/x", "//evil/x", ""},
           Row{"GET", "http://h", "", ""},
           Row{"GET", "https://h:1/p?q", "/p", "q"},
           Row{"GET", "http://h?q/r", "", "q/r"},
           Row{"OPTIONS", "*", "*", ""},
           Row{"CONNECT", "h:1", "h:1", ""},
       }) {
    SCOPED_TRACE(target);
    std::string bytes = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\n";
    bytes += "Host: a\r\n\r\n";
    RequestHead head;
    ASSERT_EQ(parse_request_head(bytes, {}, head).status, ParseStatus::complete);
    EXPECT_EQ(head.path.in(bytes.data()), path);
    EXPECT_EQ(head.query.in(bytes.data()), query);
  }
}

TEST(RequestHead, KeepsToItsLimitsHoweverSplit) {
  const Limits limits{.uri_bytes_max = 10, .header_bytes_max = 40, .header_count_max = 3};
  struct Row {
    std::string bytes, want;
  };
  const std::string line = "GET / HTTP/1.1\r\n";
  const Row rows[] = {
      {"GET /234567890", "partial"},
      {"GET /2345678901", "414 request target too long"},
      {"GET /234567890 HTTP/1.1\r\nHost: a\r\n\r\n",
       "GET /234567890 1.1 host=a Host=a keep bytes=36"},
      {line + "Host: a\r\nA: 1\r\nB: 2\r\n\r\n", "GET / 1.1 host=a Host=a A=1 B=2 keep bytes=39"},
      {line + "Host: a\r\nA: 1\r\nB: 2\r\nC", "431 too many fields"},
      {line + "Host: a\r\nX: " + repeated("x", 24) + "\r\n\r\n",
       "GET / 1.1 host=a Host=a X=" + repeated("x", 24) + " keep bytes=56"},
      {line + "Host: a\r\nX: " + repeated("x", 25) + "\r\n\r\n", "431 header fields too large"},
      {line + repeated("N", 39), "partial"},
      {line + repeated("N", 40), "431 header fields too large"},
      {line + "A:" + repeated(" ", 38), "431 header fields too large"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.bytes);
    EXPECT_EQ(answer(row.bytes, limits), row.want);
    expect_same_however_split(row.bytes, limits);
  }
}

TEST(RequestHead, HoldsAHundredFieldsAndNotOneMore) {
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\n";
  const Limits generous{.header_count_max = 1'000};
  EXPECT_TRUE(answer(start + repeated("X: y\r\n", 99) + "\r\n", generous).starts_with("GET /"));
  EXPECT_EQ(answer(start + repeated("X: y\r\n", 100) + "\r\n", generous), "431 too many fields");
}

TEST(RequestHead, IsTakenFromTheFrontOfPipelinedRequests) {
  const std::string first = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string both_requests = first + "GET /b HTTP/1.1\r\nHost: a\r\n\r\n";
  RequestHead head;
  ASSERT_EQ(parse_request_head(both_requests, {}, head).status, ParseStatus::complete);
  EXPECT_EQ(head.head_bytes, first.size());
  EXPECT_EQ(head.target.in(both_requests.data()), "/a");
}

}  // namespace
}  // namespace sennit::http::h1
