#include "sennit/http/detail/redirect.hpp"

#include <gtest/gtest.h>

namespace sennit::http::detail {
namespace {

TEST(Redirect, ChangesTheMethodAsTheRfcSays) {
  struct Row {
    Status status;
    Method method;
    bool becomes_get;
  };
  const Row rows[] = {
      {Status::see_other, Method::post, true},
      {Status::see_other, Method::put, true},
      {Status::see_other, Method::head, false},
      {Status::see_other, Method::get, false},
      {Status::moved_permanently, Method::post, true},
      {Status::found, Method::post, true},
      {Status::found, Method::put, false},
      {Status::found, Method::delete_, false},
      {Status::temporary_redirect, Method::post, false},
      {Status::permanent_redirect, Method::post, false},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(becomes_get(row.status, row.method), row.becomes_get)
        << static_cast<int>(row.status) << " " << to_string(row.method);
  }
}

TEST(Redirect, KnowsWhichStatusLeadsElsewhere) {
  for (int code = 100; code < 600; ++code) {
    const bool want = (code >= 301 && code <= 303) || code == 307 || code == 308;
    EXPECT_EQ(is_redirect(static_cast<Status>(code)), want) << code;
  }
}

TEST(Redirect, TakesNoCredentialsToAnotherOrigin) {
  Headers headers;
  for (const char* name : {"Authorization", "COOKIE", "Proxy-Authorization", "Host", "Accept",
                           "Content-Type", "X-Own"}) {
    ASSERT_TRUE(headers.add(name, "v").has_value());
  }
  const Url here = *Url::parse("http://a/x");
  const Headers same = redirected_headers(headers, here, *Url::parse("http://a:80/y"), false);
  EXPECT_TRUE(same.contains("Authorization") && same.contains("Cookie"));
  EXPECT_FALSE(same.contains("Host"));
  for (const char* elsewhere : {"http://a:81/", "http://b/", "http://a.b/", "http+unix://%2Fa/"}) {
    const Headers other = redirected_headers(headers, here, *Url::parse(elsewhere), true);
    EXPECT_FALSE(other.contains("Authorization")) << elsewhere;
    EXPECT_FALSE(other.contains("Cookie")) << elsewhere;
    EXPECT_FALSE(other.contains("Proxy-Authorization")) << elsewhere;
    EXPECT_FALSE(other.contains("Content-Type")) << elsewhere;
    EXPECT_TRUE(other.contains("Accept") && other.contains("X-Own")) << elsewhere;
  }
}

TEST(Redirect, KnowsWhatMayBeSentTwice) {
  for (std::size_t i = 0; i < method_count; ++i) {
    const auto method = static_cast<Method>(i);
    const bool want = method != Method::post && method != Method::patch &&
                      method != Method::connect && method != Method::other;
    EXPECT_EQ(is_idempotent(method), want) << to_string(method);
  }
}

}  // namespace
}  // namespace sennit::http::detail
