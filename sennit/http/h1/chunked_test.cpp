#include "sennit/http/h1/chunked.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "sennit/base/random.hpp"

namespace sennit::http::h1 {
namespace {

using namespace std::literals;

std::string repeat(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

/// Decodes `bytes` given in pieces that end at the ascending offsets `ends`, then all the rest.
/// Returns the body and how it ended: "body|rest=3", "body|partial", "body|400 reason".
std::string decode(std::string_view bytes, const std::vector<std::size_t>& ends = {},
                   const ChunkedLimits& limits = {}) {
  ChunkedDecoder decoder(limits);
  std::string body;
  std::size_t given = 0;
  for (std::size_t i = 0; i <= ends.size(); ++i) {
    const std::size_t end = i < ends.size() ? ends[i] : bytes.size();
    // A copy that ends where the piece ends, so that AddressSanitizer sees reads behind it.
    const auto copy = std::make_unique_for_overwrite<char[]>(end - given);
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(given),
              bytes.begin() + static_cast<std::ptrdiff_t>(end), copy.get());
    std::string_view input(copy.get(), end - given);
    while (!input.empty()) {
      const auto step = decoder.next(input);
      EXPECT_LE(step.consumed, input.size());
      input.remove_prefix(step.consumed);
      given += step.consumed;
      body += step.data;
      if (step.status == ParseStatus::partial) continue;
      EXPECT_EQ(decoder.body_bytes(), body.size());
      const auto again = decoder.next("5\r\nhello\r\n");  // Never a second answer.
      EXPECT_EQ(again.status, step.status);
      EXPECT_EQ(again.consumed, 0U);
      EXPECT_EQ(again.data, "");
      return step.status == ParseStatus::complete
                 ? body + "|rest=" + std::to_string(bytes.size() - given)
                 : body + "|" + std::to_string(step.http_status) + " " + step.reason;
    }
  }
  return body + "|partial";
}

void expect_same_chunks_however_split(std::string_view bytes, const ChunkedLimits& limits = {}) {
  const std::string whole = decode(bytes, {}, limits);
  std::vector<std::size_t> every;
  for (std::size_t at = 0; at <= bytes.size(); ++at) {
    ASSERT_EQ(decode(bytes, {at}, limits), whole) << "split at " << at;
    every.push_back(at);
  }
  EXPECT_EQ(decode(bytes, every, limits), whole);
  Random random(bytes.size());
  for (int i = 0; i < 20; ++i) {
    std::vector<std::size_t> ends;
    for (int k = 0; k < 3; ++k) ends.push_back(random.below(bytes.size() + 1));
    std::ranges::sort(ends);
    EXPECT_EQ(decode(bytes, ends, limits), whole);
  }
}

struct ChunkedRow {
  std::string bytes;
  std::string want;
};

TEST(ChunkedDecoder, RefusesWhatIsNotChunkedHoweverSplit) {
  const std::string bad_size = "|400 malformed chunk size";
  const std::string bad_extension = "|400 malformed chunk extension";
  const std::string bad_trailer = "|400 malformed trailer";
  const ChunkedRow rows[] = {
      {"\r\n", bad_size},
      {"\n", bad_size},
      {" 5\r\nhello\r\n", bad_size},
      {"+5\r\nhello\r\n", bad_size},
      {"-5\r\nhello\r\n", bad_size},
      {"0x5\r\nhello\r\n", bad_size},
      {"g\r\n", bad_size},
      {"5_0\r\n", bad_size},
      {"5\0\r\n"s, bad_size},
      {"5\nhello\r\n", bad_size},
      {"5\r\rhello\r\n", "|400 carriage return without line feed in a chunk size"},
      {"5\rhello\r\n", "|400 carriage return without line feed in a chunk size"},
      {"5 \r\nhello\r\n", bad_extension},
      {"5\t\r\nhello\r\n", bad_extension},
      {"5 x\r\nhello\r\n", bad_extension},
      {"5;\r\nhello\r\n", bad_extension},
      {"5;;a\r\nhello\r\n", bad_extension},
      {"5;a\nhello\r\n", bad_extension},
      {"5;a \r\nhello\r\n", bad_extension},
      {"5;a=\r\nhello\r\n", bad_extension},
      {"5;a=\"b\r\nhello\r\n", bad_extension},
      {"5;a=\"b\nc\"\r\nhello\r\n", bad_extension},
      {"5;a=\"b\\\r\n\"\r\nhello\r\n", bad_extension},
      {"5;a=\"b\"c\r\nhello\r\n", bad_extension},
      {"5;a b\r\nhello\r\n", bad_extension},
      {"5;a=b=c\r\nhello\r\n", bad_extension},
      {"5;a\0\r\nhello\r\n"s, bad_extension},
      {"8000000000000000\r\n", "|400 chunk size too large"},
      {"fffffffffffffffff\r\n", "|400 chunk size too large"},
      {"00000000000000005\r\nhello\r\n", "|400 chunk size too large"},
      {"5\r\nhello!\r\n", "hello|400 chunk longer than its size"},
      {"5\r\nhello\n", "hello|400 chunk longer than its size"},
      {"5\r\nhello\rX", "hello|400 carriage return without line feed after a chunk"},
      {"5\r\nhello\r\n\r\n", "hello" + bad_size},
      {"0\r\n\n", bad_trailer},
      {"0\r\n\rX", bad_trailer},
      {"0\r\n: a\r\n\r\n", bad_trailer},
      {"0\r\n a: b\r\n\r\n", bad_trailer},
      {"0\r\na : b\r\n\r\n", bad_trailer},
      {"0\r\na\r\n\r\n", bad_trailer},
      {"0\r\na: b\n\r\n", bad_trailer},
      {"0\r\na: b\rc\r\n\r\n", bad_trailer},
      {"0\r\na: b\0\r\n\r\n"s, bad_trailer},
      {"0\r\na: b\r\n c\r\n\r\n", bad_trailer},
      {"0\r\nGET / HTTP/1.1\r\n", bad_trailer},
  };
  for (const ChunkedRow& row : rows) {
    SCOPED_TRACE(row.bytes);
    EXPECT_EQ(decode(row.bytes), row.want);
    expect_same_chunks_however_split(row.bytes);
  }
}

TEST(ChunkedDecoder, GivesTheBodyAndStopsAtItsEnd) {
  const ChunkedRow rows[] = {
      {"", "|partial"},
      {"5", "|partial"},
      {"5\r\nhel", "hel|partial"},
      {"0\r\n", "|partial"},
      {"0\r\n\r", "|partial"},
      {"0\r\n\r\n", "|rest=0"},
      {"0000000000000000\r\n\r\n", "|rest=0"},
      {"5\r\nhello\r\n0\r\n\r\nGET /", "hello|rest=5"},
      {"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n\r\n", "hello world|rest=2"},
      {"00b\r\nhello\r\nyou!\r\n0\r\n\r\n", "hello\r\nyou!|rest=0"},
      {"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789|rest=0"},
      {"1;a\r\nx\r\n1;a=b;c\r\ny\r\n0;d=\"e\\\";\"\r\n\r\n", "xy|rest=0"},
      {"1 ; a = b\t;c\r\nx\r\n0 ;z=\"\" ;y\r\n\r\n", "x|rest=0"},
      {"0\r\nA: b\r\nContent-Length: 5\r\nc:\r\n\r\nx", "|rest=1"},
      {"7fffffffffffffff\r\nabc", "abc|partial"},
  };
  for (const ChunkedRow& row : rows) {
    SCOPED_TRACE(row.bytes);
    EXPECT_EQ(decode(row.bytes), row.want);
    expect_same_chunks_however_split(row.bytes);
  }
}

TEST(ChunkedDecoder, KeepsToItsLimitsHoweverSplit) {
  const ChunkedLimits limits{
      .chunk_extension_bytes_max = 8, .extension_bytes_max = 20, .trailer_bytes_max = 10};
  const std::string eight = "1;234567\r\nx\r\n";  // Seven bytes of extension.
  const ChunkedRow rows[] = {
      {"1;2345678\r\nx\r\n0\r\n\r\n", "x|rest=0"},
      {"1;23456789\r\nx\r\n0\r\n\r\n", "|400 chunk extensions too large"},
      {"1        ;a\r\n", "|400 chunk extensions too large"},
      {eight + eight + "1;2345\r\nx\r\n0\r\n\r\n", "xxx|rest=0"},
      {eight + eight + "1;2345678\r\nx\r\n", "xx|400 chunk extensions too large"},
      {"0\r\nab: cd\r\n\r\n", "|rest=0"},
      {"0\r\nab: cde\r\n\r\n", "|431 trailers too large"},
      {"0\r\n" + repeat("a:\r\n", 3), "|431 trailers too large"},
  };
  for (const ChunkedRow& row : rows) {
    SCOPED_TRACE(row.bytes);
    EXPECT_EQ(decode(row.bytes, {}, limits), row.want);
    expect_same_chunks_however_split(row.bytes, limits);
  }
}

TEST(ChunkedDecoder, HasTheDefaultLimitsThatItsHeaderNames) {
  const auto extension = [](std::size_t bytes) {
    return "1;" + std::string(bytes - 1, 'e') + "\r\nx\r\n";
  };
  const std::string end = "0\r\n\r\n";
  EXPECT_EQ(decode(extension(256) + end), "x|rest=0");
  EXPECT_EQ(decode(extension(257) + end), "|400 chunk extensions too large");
  EXPECT_EQ(decode(repeat(extension(256), 16) + end), repeat("x", 16) + "|rest=0");
  EXPECT_EQ(decode(repeat(extension(256), 16) + "0;a\r\n\r\n"),
            repeat("x", 16) + "|400 chunk extensions too large");
  const auto trailer = [](std::size_t bytes) { return "0\r\na:" + std::string(bytes - 6, 't'); };
  EXPECT_EQ(decode(trailer(8192) + "\r\n\r\n"), "|rest=0");
  EXPECT_EQ(decode(trailer(8193) + "\r\n\r\n"), "|431 trailers too large");
}

TEST(ChunkedDecoder, HandsDataOutWithoutCopyingIt) {
  const std::string bytes = "5\r\nhello\r\n0\r\n\r\n";
  ChunkedDecoder decoder;
  const auto step = decoder.next(bytes);
  EXPECT_EQ(step.status, ParseStatus::partial);
  EXPECT_EQ(step.data.data(), bytes.data() + 3);
  EXPECT_EQ(step.data, "hello");
  EXPECT_EQ(step.consumed, 8U);
}

TEST(ChunkedDecoder, StartsAfreshAfterReset) {
  ChunkedDecoder decoder({.chunk_extension_bytes_max = 3});
  EXPECT_EQ(decoder.next("x").status, ParseStatus::error);
  decoder.reset();
  EXPECT_EQ(decoder.next("0;ab\r\n\r\n").status, ParseStatus::complete);
  decoder.reset();
  EXPECT_EQ(decoder.next("0;abc\r\n\r\n").status, ParseStatus::error);
}

}  // namespace
}  // namespace sennit::http::h1
