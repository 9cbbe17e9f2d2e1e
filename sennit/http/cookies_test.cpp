#include "sennit/http/cookies.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::http {
namespace {

using namespace std::chrono_literals;

TEST(Cookies, AreReadAsBrowsersWriteThemAndTheRestIsSkipped) {
  struct Case {
    std::string field, want;
  };
  for (const Case& each : {
           Case{"a=1; b=2", "a=1|b=2|"},
           Case{"a=1;b=2;", "a=1|b=2|"},
           Case{" a = 1 ", "a=1|"},
           Case{"a=\"x y\"", "a=x y|"},
           Case{"a=b=c", "a=b=c|"},
           Case{"a=", "a=|"},
           Case{"novalue; =x; ; a=1", "a=1|"},
           Case{"", ""},
       }) {
    std::string got;
    for_each_cookie(each.field, [&](std::string_view name, std::string_view value) {
      got += std::string(name) + "=" + std::string(value) + "|";
      return true;
    });
    EXPECT_EQ(got, each.want) << each.field;
  }
}

// It was once set under another header's name.
TEST(Cookies, AreSetUnderTheirOwnHeaderWithEveryAttribute) {
  Response response;
  SetCookie first("session", "abc");
  first.path("/").domain("example.com").max_age(60s).expires(WallTime(0s)).secure().http_only();
  first.partitioned().same_site(SameSite::none);
  ASSERT_TRUE(set_cookie(response, first).has_value());
  ASSERT_TRUE(set_cookie(response, SetCookie("b", "")).has_value());
  EXPECT_EQ(
      response.headers().text(),
      "Set-Cookie: session=abc; Path=/; Domain=example.com; Max-Age=60; "
      "Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; HttpOnly; Partitioned; SameSite=None\r\n"
      "Set-Cookie: b=\r\n");
  EXPECT_EQ(*SetCookie::removal("b").to_string(),
            "b=; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(*SetCookie("a", "1").same_site(SameSite::lax).to_string(), "a=1; SameSite=Lax");
}

TEST(Cookies, RefuseWhatWouldBreakOutOrBeDropped) {
  const std::vector<SetCookie> wrong = {
      SetCookie("", "x"),
      SetCookie("a b", "x"),
      SetCookie("a", "x;y"),
      SetCookie("a", "x\r\nSet-Cookie: b=c"),
      SetCookie("a", "x").path("/;x"),
      SetCookie("a", "x").domain("x\ny"),
      SetCookie("a", "x").same_site(SameSite::none),
      SetCookie("a", "x").partitioned(),
      SetCookie("__Secure-a", "x"),
      SetCookie("__Host-a", "x").secure(),
      SetCookie("__Host-a", "x").secure().path("/").domain("x"),
  };
  for (const SetCookie& each : wrong) EXPECT_FALSE(each.to_string().has_value());
  EXPECT_TRUE(SetCookie("__Host-a", "x").secure().path("/").to_string().has_value());
}

}  // namespace
}  // namespace sennit::http
