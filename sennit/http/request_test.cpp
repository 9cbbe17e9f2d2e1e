#include "sennit/http/request.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "sennit/http/router.hpp"

namespace sennit::http {
namespace {

void fill(Request& request, std::string bytes) {
  h1::RequestHead head;
  ASSERT_EQ(h1::parse_request_head(bytes, {}, head).status, h1::ParseStatus::complete) << bytes;
  request.assign(std::string_view(bytes).substr(0, head.head_bytes), head);
  bytes.assign(bytes.size(), '#');  // The request must not look at these again.
}

Request get(const std::string& target) {
  Request request;
  fill(request, "GET " + target + " HTTP/1.1\r\nHost: a:1\r\n\r\n");
  return request;
}

TEST(Request, GivesNothingForWhatIsNotThere) {
  const Request request = get("/");
  EXPECT_EQ(request.header("X"), std::nullopt);
  EXPECT_EQ(request.query("x"), std::nullopt);
  EXPECT_EQ(request.param("x"), "");
  EXPECT_EQ(request.query_string(), "");
  EXPECT_EQ(request.body(), "");
}

TEST(Request, HoldsItsOwnCopyOfTheHead) {
  Request request;
  fill(request, "PROPFIND /a?b=c HTTP/1.0\r\nHost: h\r\nX: 1\r\nx:  2 \r\n\r\n");
  EXPECT_EQ(request.method(), Method::other);
  EXPECT_EQ(request.method_name(), "PROPFIND");
  EXPECT_EQ(request.target(), "/a?b=c");
  EXPECT_EQ(request.path(), "/a");
  EXPECT_EQ(request.query_string(), "b=c");
  EXPECT_EQ(request.host(), "h");
  EXPECT_EQ(request.minor_version(), 0);
  EXPECT_FALSE(request.keep_alive());
  EXPECT_EQ(request.header("x"), "1");
  ASSERT_EQ(request.header_count(), 3U);
  EXPECT_EQ(request.header_at(2).name, "x");
  EXPECT_EQ(request.header_at(2).value, "2");

  const Request moved = std::move(request);
  EXPECT_EQ(moved.path(), "/a");
  EXPECT_EQ(moved.header("X"), "1");
}

TEST(Request, HasAPathWhateverTheFormOfItsTarget) {
  EXPECT_EQ(get("http://b").path(), "/");
  EXPECT_EQ(get("http://b?q=1").path(), "/");
  EXPECT_EQ(get("http://b?q=1").query("q"), "1");
  EXPECT_EQ(get("http://b/x%2F").path(), "/x%2F");
  EXPECT_EQ(get("http://b/x").host(), "b");
}

TEST(Request, DecodesQueryParameters) {
  const Request request = get("/?a=1&b=x+y%26z&a=2&empty=&flag&&%63=d&bad=%zz&=n&p=q=r");
  EXPECT_EQ(request.query("a"), "1");
  EXPECT_EQ(request.query("b"), "x y&z");
  EXPECT_EQ(request.query("empty"), "");
  EXPECT_EQ(request.query("flag"), "");
  EXPECT_EQ(request.query("c"), "d");
  EXPECT_EQ(request.query("bad"), std::nullopt);
  EXPECT_EQ(request.query("p"), "q=r");
  EXPECT_EQ(request.query("A"), std::nullopt);
}

TEST(Request, DecodesRouteParametersAfterTheSplit) {
  Router router;
  ASSERT_TRUE(router.add(Method::get, "/{a}/x/{b}/{rest*}", 0));
  Request request = get("/p%2Fq/x/plain/r/%41?z");
  RouteParams params;
  ASSERT_EQ(router.find(request.method(), request.path(), params).found, Router::Found::route);
  request.set_params(params);
  EXPECT_EQ(request.param("a"), "p/q");
  EXPECT_EQ(request.param("b"), "plain");
  EXPECT_EQ(request.param("rest"), "r/A");
  EXPECT_EQ(request.param("none"), "");
  EXPECT_EQ(request.path(), "/p%2Fq/x/plain/r/%41");
}

TEST(Request, DecodesRouteParametersOfAPathThatIsNotItsOwn) {
  Router router;
  ASSERT_TRUE(router.add(Method::get, "/{a}/{b*}", 0));
  RouteParams params;
  Request request;
  {
    const std::string path = "/one/two%20three";
    ASSERT_EQ(router.find(Method::get, path, params).found, Router::Found::route);
    request.set_params(params);
  }
  EXPECT_EQ(request.param("a"), "one");
  EXPECT_EQ(request.param("b"), "two three");
}

TEST(Request, IsReusedWithoutATraceOfTheLastOne) {
  Request request;
  fill(request, "POST /long/path?q=1 HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n");
  request.mutable_body().append("body");
  RouteParams params;
  params.params[params.count++] = {"id", "7"};
  request.set_params(params);
  request.reset();
  EXPECT_EQ(request.target(), "");
  EXPECT_EQ(request.path(), "/");
  EXPECT_EQ(request.header_count(), 0U);
  EXPECT_EQ(request.param("id"), "");
  EXPECT_EQ(request.body(), "");

  fill(request, "GET /b HTTP/1.1\r\nHost: b\r\n\r\n");
  EXPECT_EQ(request.path(), "/b");
  EXPECT_EQ(request.query("q"), std::nullopt);
  EXPECT_EQ(request.header("X"), std::nullopt);
}

TEST(Request, KeepsASmallBodysMemoryAndFreesALargeOnes) {
  Request request;
  request.mutable_body().append(std::string(1'000, 'x'));
  request.reset();
  EXPECT_GE(request.mutable_body().capacity(), 1'000U);
  request.mutable_body().append(std::string(100'000, 'x'));
  request.reset();
  EXPECT_EQ(request.mutable_body().capacity(), 0U);
}

}  // namespace
}  // namespace sennit::http
