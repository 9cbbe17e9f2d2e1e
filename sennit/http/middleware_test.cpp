#include "sennit/http/middleware.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using testing::body_of;
using testing::status_of;

class MiddlewareTest : public testing::ServerTest {
 protected:
  // Writes its name before and after what is inside, plain or as a coroutine.
  static auto plain(std::string name) {
    return [name = std::move(name)](Request& request, Next next) {
      Response inner = wait(next(request));
      inner.set_body(name + "(" + std::string(inner.body()) + ")");
      return inner;
    };
  }
  static auto coroutine(std::string name) {
    return [name = std::move(name)](Request& request, Next next) -> Task<Response> {
      co_await sleep_for(1ms);
      Response inner = co_await next(request);
      inner.set_body(name + "(" + std::string(inner.body()) + ")");
      co_return inner;
    };
  }
};

TEST_P(MiddlewareTest, RunInTheOrderOfUseWhateverTheirKindsAndThatOfTheHandler) {
  Routes& plain_first = server_.group("/p").use(plain("a")).use(coroutine("b")).use(plain("c"));
  Routes& coro_first = server_.group("/c").use(coroutine("a")).use(plain("b")).use(coroutine("c"));
  for (Routes* group : {&plain_first, &coro_first}) {
    group->get("/plain", [](Request&) { return text("x"); });
    group->get("/coro", [](Request&) -> Task<Response> { co_return text("x"); });
    group->get("/slow", [](Request&) {
      wait(sleep_for(1ms));
      return text("x");
    });
  }
  start();
  testing::RawClient one = client();
  for (const auto* path : {"/p/plain", "/p/coro", "/p/slow", "/c/plain", "/c/coro", "/c/slow"}) {
    one.send(get(path));
    EXPECT_EQ(body_of(one.response()), "a(b(c(x)))") << path;
  }
}

// A second use() replaced the first one, once.
TEST_P(MiddlewareTest, OfTheServerAreAroundThoseOfAGroupAroundThoseOfARoute) {
  server_.use(plain("server1"));
  Routes& group = server_.group("/g").use(plain("group"));
  group.get("/x", [](Request&) { return text("x"); }).use(plain("route1")).use(plain("route2"));
  group.group("/deep").use(plain("deep")).get("/y", [](Request&) { return text("y"); });
  server_.use(plain("server2"));  // After the routes, and still around them.
  start();
  EXPECT_EQ(body_of(ask(get("/g/x"))), "server1(server2(group(route1(route2(x)))))");
  EXPECT_EQ(body_of(ask(get("/g/deep/y"))), "server1(server2(group(deep(y))))");
  EXPECT_EQ(body_of(ask(get("/status"))), "server1(server2(hello world))");
}

TEST_P(MiddlewareTest, SeeWhatNoRouteTakes) {
  std::atomic<int> seen = 0;
  server_.use([&seen](Request& request, Next next) {
    ++seen;
    return wait(next(request));
  });
  std::atomic<int> seen_by_group = 0;
  server_.group("/g")
      .use([&seen_by_group](Request& request, Next next) {
        ++seen_by_group;
        return wait(next(request));
      })
      .get("/x", [](Request&) { return text("x"); });
  start();
  EXPECT_EQ(status_of(ask(get("/nowhere"))), 404);
  EXPECT_EQ(status_of(ask("POST /g/x HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\n\r\nx")), 405);
  const std::string options = ask("OPTIONS /g/x HTTP/1.1\r\nHost: t\r\n\r\n");
  EXPECT_EQ(status_of(options), 204);
  EXPECT_NE(options.find("\r\nAllow: GET, HEAD, OPTIONS\r\n"), std::string::npos);
  EXPECT_EQ(status_of(ask("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n")), 204);
  EXPECT_EQ(status_of(ask(get("/bad/%zz"))), 400);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(seen_by_group, 2);
}

TEST_P(MiddlewareTest, AnswerThemselvesIfTheyLike) {
  server_.group("/g")
      .use([](Request& request, Next next) -> Task<Result<Response>> {
        if (!request.header("authorization")) {
          co_return failure(Errc::permission_denied, "let you in");
        }
        co_return co_await next(request);
      })
      .get("/x", [](Request&) { return text("x"); });
  start();
  EXPECT_EQ(status_of(ask(get("/g/x"))), 403);
  EXPECT_EQ(status_of(ask("GET /g/x HTTP/1.1\r\nHost: t\r\nAuthorization: me\r\n\r\n")), 200);
}

TEST_P(MiddlewareTest, SeeAnExceptionAsTheResponseItBecomes) {
  std::atomic<int> seen_status = 0;
  server_.group("/g")
      .use([&seen_status](Request& request, Next next) -> Task<Response> {
        Response inner = co_await next(request);
        seen_status = static_cast<int>(inner.status());
        co_return inner;
      })
      .get("/throws", [](Request&) -> Response { throw std::runtime_error("x"); });
  server_.group("/h")
      .use([](Request&, Next) -> Response { throw std::runtime_error("x"); })
      .get("/x", [](Request&) { return text("x"); });
  start();
  EXPECT_EQ(status_of(ask(get("/g/throws"))), 500);
  EXPECT_EQ(seen_status, 500);
  EXPECT_EQ(status_of(ask(get("/h/x"))), 500);
}

TEST_P(MiddlewareTest, ManyAtOnceEachWithItsOwnAnswer) {
  server_.group("/g").use(coroutine("a")).use(plain("b")).get("/{id}", [](Request& request) {
    wait(sleep_for(1ms));
    return text(std::string(request.param("id")));
  });
  start();
  std::vector<testing::RawClient> clients;
  for (int i = 0; i < 50; ++i) clients.push_back(client());
  for (int i = 0; i < 50; ++i)
    clients[static_cast<std::size_t>(i)].send(get("/g/" + std::to_string(i)));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(body_of(clients[static_cast<std::size_t>(i)].response()),
              "a(b(" + std::to_string(i) + "))");
  }
}

SENNIT_FOR_EACH_BACKEND(MiddlewareTest);

}  // namespace
}  // namespace sennit::http
