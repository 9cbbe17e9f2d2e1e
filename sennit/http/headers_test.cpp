#include "sennit/http/headers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::http {
namespace {

using namespace std::literals;

std::vector<std::string> lines(const Headers& headers) {
  std::vector<std::string> out;
  for (const Header header : headers) {
    out.push_back(std::string(header.name) + "=" + std::string(header.value));
  }
  return out;
}

TEST(Headers, RefusesWhatWouldBreakOutOfItsLineAndStaysAsItWas) {
  struct Row {
    std::string_view name, value;
  };
  for (const auto& [name, value] : {
           Row{"", "x"},
           Row{"a b", "x"},
           Row{"a:", "x"},
           Row{"a\r\n", "x"},
           Row{"a\0b"sv, "x"},
           Row{"caf\xc3\xa9", "x"},
           Row{"a", "x\r\nSet-Cookie: y"},
           Row{"a", "x\n"},
           Row{"a", "\r"},
           Row{"a", "x\0y"sv},
           Row{"a", "\x1b[0m"},
           Row{"a", "\x7f"},
       }) {
    SCOPED_TRACE(value);
    Headers headers;
    ASSERT_TRUE(headers.add("A", "kept"));
    const auto added = headers.add(name, value);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code(), Errc::invalid_argument);
    EXPECT_FALSE(headers.set(name, value));
    EXPECT_THAT(lines(headers), ::testing::ElementsAre("A=kept"));
  }
}

TEST(Headers, KeepsOrderAndRepeats) {
  Headers headers;
  EXPECT_TRUE(headers.add("Set-Cookie", "a=1"));
  EXPECT_TRUE(headers.add("Vary", " \tOrigin\t "));
  EXPECT_TRUE(headers.add("set-cookie", "b=2"));
  EXPECT_TRUE(headers.add("Empty", ""));
  EXPECT_THAT(lines(headers),
              ::testing::ElementsAre("Set-Cookie=a=1", "Vary=Origin", "set-cookie=b=2", "Empty="));
  EXPECT_EQ(headers.count(), 4U);
  EXPECT_EQ(headers.text(), "Set-Cookie: a=1\r\nVary: Origin\r\nset-cookie: b=2\r\nEmpty: \r\n");
}

TEST(Headers, FindsNamesWithoutCase) {
  Headers headers;
  EXPECT_EQ(headers.get("a"), std::nullopt);
  EXPECT_TRUE(headers.add("X-One", "1: x"));
  EXPECT_TRUE(headers.add("x-one", "2"));
  EXPECT_EQ(headers.get("x-ONE"), "1: x");
  EXPECT_EQ(headers.get("x-on"), std::nullopt);
  EXPECT_TRUE(headers.contains("X-ONE"));
}

TEST(Headers, SetReplacesEveryFieldOfThatName) {
  Headers headers;
  EXPECT_TRUE(headers.add("A", "1"));
  EXPECT_TRUE(headers.add("B", "2"));
  EXPECT_TRUE(headers.add("a", "3"));
  EXPECT_TRUE(headers.set("A", "4"));
  EXPECT_THAT(lines(headers), ::testing::ElementsAre("B=2", "A=4"));
}

TEST(Headers, MayBeGivenTheirOwnText) {
  Headers headers;
  EXPECT_TRUE(headers.add("A", "a long value that no small string holds in place"));
  EXPECT_TRUE(headers.add("B", *headers.get("a")));
  const Header first = *headers.begin();
  EXPECT_TRUE(headers.set(first.name, *headers.get("b")));
  EXPECT_EQ(headers.get("A"), "a long value that no small string holds in place");
  EXPECT_EQ(headers.count(), 2U);
  EXPECT_EQ(headers.remove((*headers.begin()).name), 1U);
  EXPECT_EQ(headers.count(), 1U);
}

TEST(Headers, RemovesEveryFieldOfThatName) {
  Headers headers;
  EXPECT_EQ(headers.remove("A"), 0U);
  EXPECT_TRUE(headers.add("A", "1"));
  EXPECT_TRUE(headers.add("B", "2"));
  EXPECT_TRUE(headers.add("a", "3"));
  EXPECT_EQ(headers.remove("A"), 2U);
  EXPECT_THAT(lines(headers), ::testing::ElementsAre("B=2"));
  headers.clear();
  EXPECT_TRUE(headers.empty());
}

}  // namespace
}  // namespace sennit::http
