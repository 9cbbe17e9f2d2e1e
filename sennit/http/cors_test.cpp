#include "sennit/http/cors.hpp"

#include <gtest/gtest.h>
#include <string>

#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using namespace std::chrono_literals;
using testing::status_of;

class CorsTest : public testing::ServerTest {
 protected:
  [[nodiscard]] std::string from(const std::string& origin, const std::string& method = "GET",
                                 const std::string& fields = "") const {
    return ask(method + " /status HTTP/1.1\r\nHost: t\r\nOrigin: " + origin + "\r\n" + fields +
               "\r\n");
  }
  static bool has(const std::string& response, const std::string& line) {
    return response.find("\r\n" + line + "\r\n") != std::string::npos;
  }
};

TEST_P(CorsTest, NamesAnAllowedOriginAndNoOther) {
  server_.use(cors(
      CorsOptions()
          .allow_origin("https://a.example")
          .allow_origins_if([](std::string_view origin) { return origin.ends_with(".b.example"); })
          .allow_credentials()
          .expose_headers({"X-One", "X-Two"})));
  start();
  for (const auto* origin : {"https://a.example", "https://x.b.example"}) {
    const std::string answer = from(origin);
    EXPECT_TRUE(has(answer, "Access-Control-Allow-Origin: " + std::string(origin)));
    EXPECT_TRUE(has(answer, "Access-Control-Allow-Credentials: true"));
    EXPECT_TRUE(has(answer, "Access-Control-Expose-Headers: X-One, X-Two"));
    EXPECT_TRUE(has(answer, "Vary: Origin"));
  }
  const std::string other = from("https://a.example.evil");
  EXPECT_EQ(status_of(other), 200);
  EXPECT_EQ(other.find("Access-Control"), std::string::npos);
  EXPECT_TRUE(has(other, "Vary: Origin"));
}

TEST_P(CorsTest, AnswersPreflightsBeforeAnyRoute) {
  server_.use(cors(CorsOptions()
                       .allow_any_origin()
                       .allow_methods({"GET", "PUT"})
                       .allow_private_network()
                       .max_age(600s)));
  start();
  const std::string answer =
      from("https://x.example", "OPTIONS",
           "Access-Control-Request-Method: PUT\r\nAccess-Control-Request-Headers: x-a\r\n"
           "Access-Control-Request-Private-Network: true\r\n");
  EXPECT_EQ(status_of(answer), 204);
  for (const auto* line :
       {"Access-Control-Allow-Origin: *", "Access-Control-Allow-Methods: GET, PUT",
        "Access-Control-Allow-Headers: x-a", "Access-Control-Max-Age: 600",
        "Access-Control-Allow-Private-Network: true"}) {
    EXPECT_TRUE(has(answer, line)) << line << "\n" << answer;
  }
  EXPECT_EQ(answer.find("Credentials"), std::string::npos);
  EXPECT_TRUE(has(from("https://x.example", "OPTIONS"), "Allow: GET, HEAD, OPTIONS"));
}

TEST(CorsDeathTest, NeverGivesCredentialsToAnyOrigin) {
  EXPECT_DEATH((void)cors(CorsOptions().allow_any_origin().allow_credentials()), "act as the user");
  EXPECT_DEATH(CorsOptions().allow_origin("*"), "");
  EXPECT_DEATH(CorsOptions().allow_origin("https://*.example.com"), "");
}

SENNIT_FOR_EACH_BACKEND(CorsTest);

}  // namespace
}  // namespace sennit::http
