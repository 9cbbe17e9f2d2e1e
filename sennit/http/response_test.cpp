#include "sennit/http/response.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sennit::http {
namespace {

TEST(Response, TurnsABadRedirectIntoAServerError) {
  for (const auto location : {"/a\r\nSet-Cookie: b", "/\n", "/\x01"}) {
    const Response response = redirect(location);
    EXPECT_EQ(response.status(), Status::internal_server_error);
    EXPECT_FALSE(response.headers().contains("Location"));
    EXPECT_FALSE(response.headers().contains("Set-Cookie"));
  }
}

TEST(Response, HasTheTypeItWasMadeWith) {
  EXPECT_EQ(text("a").content_type(), "text/plain; charset=utf-8");
  EXPECT_EQ(text("a").body(), "a");
  EXPECT_EQ(text(Status::conflict, "a").status(), Status::conflict);
  EXPECT_EQ(json("{}").content_type(), "application/json");
  EXPECT_EQ(json(Status::created, "{}").status(), Status::created);
  EXPECT_EQ(html("<p>").content_type(), "text/html; charset=utf-8");
  EXPECT_EQ(empty(Status::no_content).content_type(), "");
  EXPECT_EQ(empty(Status::no_content).body(), "");
  EXPECT_EQ(redirect("/b").headers().get("location"), "/b");
  EXPECT_EQ(redirect("/b", Status::see_other).status(), Status::see_other);
}

TEST(Response, RefersToAStaticBodyWithoutCopyingIt) {
  static const std::string body = "hello";
  Response response = static_text(body);
  EXPECT_EQ(response.body().data(), body.data());
  response.set_static_body("");
  EXPECT_EQ(response.body(), "");
  response.set_body("other");
  EXPECT_EQ(response.body(), "other");
}

TEST(Response, DescribesProblemsAsJsonWhateverTheDetailHolds) {
  EXPECT_EQ(problem(Status::not_found).body(), R"({"title":"Not Found","status":404})");
  EXPECT_EQ(problem(Status::not_found).content_type(), "application/problem+json");
  struct Row {
    std::string_view detail, want;
  };
  for (const auto& [detail, want] : {
           Row{"plain", "plain"},
           Row{"\"\\", R"(\"\\)"},
           Row{"a\r\n\t\x1b\x7f", R"(a\u000d\u000a\u0009\u001b\u007f)"},
           Row{"ü€😀", "ü€😀"},
           Row{"\xff", "\xef\xbf\xbd"},
           Row{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                  // Overlong.
           Row{"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // Overlong.
           Row{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // A surrogate.
           Row{"\xf0\x9f\x98", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // Cut short.
           Row{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
       }) {
    EXPECT_EQ(problem(Status::bad_request, detail).body(),
              R"({"title":"Bad Request","status":400,"detail":")" + std::string(want) + "\"}");
  }
}

}  // namespace
}  // namespace sennit::http
