#include "sennit/http/router.hpp"

#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <utility>

#include "sennit/base/random.hpp"
#include "sennit/http/percent.hpp"

namespace sennit::http {
namespace {

using Found = Router::Found;

/// A router with these routes: a method and a pattern each. Handlers are numbered from 0.
Router with_routes(std::initializer_list<std::pair<Method, std::string_view>> routes) {
  Router router;
  std::uint32_t index = 0;
  for (const auto& [method, pattern] : routes) {
    const auto added = router.add(method, pattern, index++);
    EXPECT_TRUE(added) << added.error().to_string();
  }
  return router;
}

/// What find() answers as text: "/users/{id} id=7", "404", "405 GET, HEAD, OPTIONS", ...
std::string answer(const Router& router, Method method, std::string_view path) {
  RouteParams params;
  const Router::Match match = router.find(method, path, params);
  switch (match.found) {
    case Found::not_found:
      return "404";
    case Found::bad_request:
      return "400";
    case Found::method_not_allowed:
      return "405 " + to_string(match.allowed);
    case Found::options:
      return "options " + to_string(match.allowed);
    case Found::route:
      break;
  }
  std::string text(match.pattern);
  for (std::size_t i = 0; i < params.count; ++i) {
    text += " " + std::string(params.params[i].name) + "=";
    append_percent_decoded(text, params.params[i].raw);
  }
  return text;
}

TEST(Router, RefusesPatternsThatAreNone) {
  struct Row {
    std::string_view pattern, want;
  };
  for (const auto& [pattern, want] : {
           Row{"", "begins with a slash"},
           Row{"users", "begins with a slash"},
           Row{"*", "begins with a slash"},
           Row{"/a?b", "written decoded"},
           Row{"/a%20b", "written decoded"},
           Row{"/a\r\n", "written decoded"},
           Row{"/{}", "a parameter's name"},
           Row{"/{*}", "a parameter's name"},
           Row{"/{a b}", "a parameter's name"},
           Row{"/x{id}", "a whole segment"},
           Row{"/{id}.json", "a whole segment"},
           Row{"/{id", "a whole segment"},
           Row{"/{", "a whole segment"},
           Row{"/}", "a whole segment"},
           Row{"/{rest*}/x", "must come last"},
           Row{"/{rest*}/", "must come last"},
           Row{"/{a}/{a}", "stands twice"},
           Row{"/{a}/{b}/{c}/{d}/{e}/{f}/{g}/{h}/{i}", "too many parameters"},
           Row{"////////////////////////////////////", "too many segments"},
       }) {
    SCOPED_TRACE(pattern);
    Router router;
    const auto added = router.add(Method::get, pattern, 0);
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code(), Errc::invalid_argument);
    EXPECT_NE(added.error().doing().find(want), std::string::npos) << added.error().to_string();
    EXPECT_EQ(router.route_count(), 0U);
  }
}

TEST(Router, RefusesARouteThatMatchesTheSamePathsAsAnotherAndNamesBoth) {
  Router router = with_routes({{Method::get, "/users/{id}"}, {Method::get, "/files/{path*}"}});
  const auto again = router.add(Method::get, "/users/{name}", 9);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code(), Errc::already_exists);
  EXPECT_EQ(again.error().doing(),
            "add route GET /users/{name}: it matches the same paths as /users/{id}");
  EXPECT_FALSE(router.add(Method::get, "/files/{rest*}", 9));
  EXPECT_EQ(answer(router, Method::get, "/users/7"), "/users/{id} id=7");
  EXPECT_TRUE(router.add(Method::put, "/users/{name}", 9));  // Another method: another name.
  EXPECT_EQ(answer(router, Method::put, "/users/7"), "/users/{name} name=7");
}

TEST(Router, RefusesUnknownMethods) {
  Router router;
  EXPECT_FALSE(router.add(Method::other, "/", 0));
}

TEST(Router, FindsTheMostParticularRoute) {
  const Router router = with_routes({
      {Method::get, "/"},
      {Method::get, "/long_req/"},
      {Method::get, "/users"},
      {Method::get, "/users/{id}"},
      {Method::get, "/users/me"},
      {Method::get, "/users/{id}/posts/{post}"},
      {Method::get, "/users/{id}/{rest*}"},
      {Method::get, "/files/{path*}"},
      {Method::get, "/a b/ü"},
      {Method::get, "/x/{a}/1"},
      {Method::get, "/{any}/y/2"},
      {Method::get, "//double"},
  });
  struct Row {
    std::string_view path, want;
  };
  for (const auto& [path, want] : {
           Row{"", "404"},
           Row{"users", "404"},
           Row{"/nothing", "404"},
           Row{"/users/", "404"},  // A parameter is never empty.
           Row{"/files", "404"},
           Row{"/long_req", "404"},
           Row{"/Users", "404"},
           Row{"/double", "404"},
           Row{"/users/%", "400"},
           Row{"/users/%7", "400"},
           Row{"/users/%zz", "400"},
           Row{"/users/a%00", "400"},
           Row{"/%", "400"},
           Row{"/", "/"},
           Row{"//double", "//double"},
           Row{"/long_req/", "/long_req/"},
           Row{"/users", "/users"},
           Row{"/%75sers", "/users"},
           Row{"/users%2Fme", "404"},
           Row{"/users/me", "/users/me"},
           Row{"/users/m%65", "/users/me"},
           Row{"/users/mee", "/users/{id} id=mee"},
           Row{"/users/a%2Fb", "/users/{id} id=a/b"},
           Row{"/users/%252F", "/users/{id} id=%2F"},  // Decoded once.
           Row{"/users/..", "/users/{id} id=.."},
           Row{"/users/me/posts/1", "/users/{id}/posts/{post} id=me post=1"},
           Row{"/users/7/posts", "/users/{id}/{rest*} id=7 rest=posts"},
           Row{"/users/7/posts/", "/users/{id}/{rest*} id=7 rest=posts/"},
           Row{"/users/7/", "/users/{id}/{rest*} id=7 rest="},
           Row{"/files/", "/files/{path*} path="},
           Row{"/files/a/b%20c//d", "/files/{path*} path=a/b c//d"},
           Row{"/a%20b/%C3%BC", "/a b/ü"},
           Row{"/x/y/1", "/x/{a}/1 a=y"},
           Row{"/x/y/2", "/{any}/y/2 any=x"},  // Back out of /x/{a}.
           Row{"/x/y/3", "404"},
       }) {
    SCOPED_TRACE(path);
    EXPECT_EQ(answer(router, Method::get, path), want);
  }
}

TEST(Router, SaysWhichMethodsAPathAllows) {
  const Router router = with_routes({
      {Method::get, "/both"},
      {Method::post, "/both"},
      {Method::post, "/a/b"},
      {Method::get, "/a/{x}"},
      {Method::put, "/a/{x*}"},
      {Method::head, "/head"},
      {Method::options, "/own"},
  });
  struct Row {
    Method method;
    std::string_view path, want;
  };
  for (const auto& [method, path, want] : {
           Row{Method::put, "/both", "405 GET, HEAD, POST, OPTIONS"},
           Row{Method::other, "/both", "405 GET, HEAD, POST, OPTIONS"},
           Row{Method::delete_, "/a/b", "405 GET, HEAD, POST, PUT, OPTIONS"},
           Row{Method::get, "/head", "405 HEAD, OPTIONS"},
           Row{Method::get, "*", "404"},
           Row{Method::options, "/nothing", "404"},
           Row{Method::options, "/both", "options GET, HEAD, POST, OPTIONS"},
           Row{Method::options, "*", "options GET, HEAD, POST, PUT, OPTIONS"},
           Row{Method::options, "/own", "/own"},
           Row{Method::head, "/both", "/both"},
           Row{Method::head, "/head", "/head"},
           Row{Method::get, "/a/b", "/a/{x} x=b"},  // Not hidden by the POST.
           Row{Method::put, "/a/b", "/a/{x*} x=b"},
       }) {
    SCOPED_TRACE(path);
    EXPECT_EQ(answer(router, method, path), want);
  }
}

TEST(Router, FindsEachOfAThousandRoutes) {
  Router router;
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    const std::string number = std::to_string(i * 7);
    ASSERT_TRUE(router.add(Method::get, "/static/" + number, i));
    ASSERT_TRUE(router.add(Method::get, "/r" + number + "/{id}/end", 10'000 + i));
  }
  for (std::uint32_t i = 0; i < 1'000; ++i) {
    const std::string number = std::to_string(i * 7);
    RouteParams params;
    EXPECT_EQ(router.find(Method::get, "/static/" + number, params).handler_index, i);
    const auto match = router.find(Method::get, "/r" + number + "/x/end", params);
    EXPECT_EQ(match.handler_index, 10'000 + i);
    EXPECT_EQ(router.find(Method::get, "/static/" + number + "1", params).found,
              (i * 7 * 10 + 1) % 7 == 0 && i * 70 + 1 < 7'000 ? Found::route : Found::not_found);
  }
}

TEST(Router, VisitsEachNodeOnceHoweverTheRoutesBranch) {
  Router router;  // Every segment both as text and as a parameter: 2^8 paths through the tree.
  for (unsigned shape = 0; shape < 256; ++shape) {
    std::string pattern;
    for (unsigned i = 0; i < 8; ++i) {
      pattern += (shape >> i & 1) != 0 ? "/{p" + std::to_string(i) + "}" : std::string("/a");
    }
    ASSERT_TRUE(router.add(Method::get, pattern, shape));
  }
  EXPECT_EQ(answer(router, Method::get, "/a/a/a/a/a/a/a/a"), "/a/a/a/a/a/a/a/a");
  EXPECT_EQ(answer(router, Method::get, "/a/a/a/a/a/a/a/b"), "/a/a/a/a/a/a/a/{p7} p7=b");
  EXPECT_EQ(answer(router, Method::get, "/a/a/a/a/a/a/a/a/a"), "404");
  EXPECT_EQ(answer(router, Method::get, "/b/b/b/b/b/b/b/b"),
            "/{p0}/{p1}/{p2}/{p3}/{p4}/{p5}/{p6}/{p7} p0=b p1=b p2=b p3=b p4=b p5=b p6=b p7=b");
}

TEST(Router, StaysUsableAfterAMove) {
  Router first = with_routes({{Method::get, "/a"}, {Method::get, "/{x}/b"}});
  const Router second = std::move(first);
  EXPECT_EQ(answer(second, Method::get, "/a"), "/a");
  EXPECT_EQ(answer(second, Method::get, "/a/b"), "/{x}/b x=a");
}

}  // namespace
}  // namespace sennit::http
