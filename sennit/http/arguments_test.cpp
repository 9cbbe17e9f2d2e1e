#include "sennit/http/arguments.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sennit/http/json.hpp"
#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using testing::body_of;
using testing::status_of;

struct TypedUser {
  int id = 0;
  std::uint8_t age = 0;
  std::string name;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TypedUser, id, age, name)

class ArgumentsTest : public testing::ServerTest {
 protected:
  [[nodiscard]] std::string post(std::string_view path, std::string_view type,
                                 std::string_view body) const {
    return ask(
        "POST " + std::string(path) + " HTTP/1.1\r\nHost: t\r\nContent-Type: " + std::string(type) +
        "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body));
  }
};

TEST_P(ArgumentsTest, ComeFromPathQueryStateAndRequestInAnyOrder) {
  std::string greeting = "hello";
  server_.provide(greeting);
  server_.get("/typed/{id}",
              [](State<std::string> state, Path<int, "id"> id, const Request& request,
                 Query<std::optional<int>, "page"> page, Query<bool, "full">) -> Task<std::string> {
                co_return *state + " " + std::to_string(*id) + " " +
                    std::to_string(page->value_or(-1)) + " " + std::string(request.path());
              });
  start();
  EXPECT_EQ(body_of(ask(get("/typed/7?page=3&full=1"))), "hello 7 3 /typed/7");
  EXPECT_EQ(body_of(ask(get("/typed/-7?full=false"))), "hello -7 -1 /typed/-7");
  for (const auto* path : {"/typed/x?full=1", "/typed/7", "/typed/7?full=2", "/typed/7x?full=1",
                           "/typed/99999999999?full=1", "/typed/7?full=1&page="}) {
    EXPECT_EQ(status_of(ask(get(path))), 400) << path;
  }
}

TEST_P(ArgumentsTest, AreFormsAndJsonToo) {
  server_.post("/form", [](const Form& form) { return form.get_or("a") + form.get_or("b", "?"); });
  server_.post("/user", [](Json<TypedUser> user) -> Json<TypedUser> {
    user.value.name += "!";
    return user;
  });
  server_.post("/maybe", [](const Json<TypedUser>& user) -> Task<Result<Json<TypedUser>>> {
    if (user->id == 0) co_return failure(Errc::not_found, "find nobody");
    co_return user;
  });
  start();
  EXPECT_EQ(body_of(post("/form", "application/x-www-form-urlencoded", "a=1+%26&b=2")), "1 &2");
  EXPECT_EQ(status_of(post("/form", "text/plain", "a=1")), 415);
  EXPECT_EQ(status_of(post("/form", "application/x-www-form-urlencoded", "a=%zz")), 400);
  const std::string type = "application/json; charset=utf-8";
  EXPECT_EQ(body_of(post("/user", type, R"({"id":1,"age":2,"name":"x"})")),
            R"({"age":2,"id":1,"name":"x!"})");
  EXPECT_EQ(status_of(post("/maybe", type, R"({"id":0,"age":2,"name":"x"})")), 404);
  EXPECT_EQ(status_of(post("/maybe", type, R"({"id":1,"age":2,"name":"x"})")), 200);
  for (const auto& [body, status] : std::vector<std::pair<std::string, int>>{
           {R"({"id":1,"age":2,"name":"x"} x)", 400},
           {R"({"id":1,"id":2,"age":2,"name":"x"})", 400},
           {R"({"id":99999999999999999999,"age":2,"name":"x"})", 400},
           {"{\"id\":1,\"age\":2,\"name\":\"\xff\"}", 400},
           {std::string(100'000, '['), 400},
           {R"({"id":1,"age":300,"name":"x"})", 422},
           {R"({"id":4294967297,"age":2,"name":"x"})", 422},
           {R"({"id":"1","age":2,"name":"x"})", 422},
           {R"({"id":1,"age":2})", 422},
           {"", 400},
       }) {
    EXPECT_EQ(status_of(post("/user", type, body)), status) << body.substr(0, 60);
  }
  EXPECT_EQ(status_of(post("/user", "text/plain", "{}")), 415);
}

TEST(ArgumentsDeathTest, AreCheckedAgainstTheirRouteWhenTheServerStarts) {
  const auto start = [](auto add) {
    Server server;
    add(server);
    ServerOptions options;
    options.port = 0;
    (void)server.start(options);
  };
  EXPECT_DEATH(start([](Server& server) {
                 server.get("/a/{id}", [](Path<int, "other">) { return text(""); });
               }),
               "path parameter that its route does not have");
  EXPECT_DEATH(start([](Server& server) { server.get("/a", [](State<int>) { return text(""); }); }),
               "was not given by provide");
}

SENNIT_FOR_EACH_BACKEND(ArgumentsTest);

}  // namespace
}  // namespace sennit::http
