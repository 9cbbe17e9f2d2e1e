#include "sennit/http/handler.hpp"

#include <gtest/gtest.h>
#include <string>

#include "sennit/base/log.hpp"

namespace sennit::http {
namespace {

TEST(ResponseFor, GivesEachErrorItsStatus) {
  log::set_level(log::Level::off);
  struct Case {
    Errc code;
    int status;
  };
  for (const auto& [code, status] : {
           Case{Errc::invalid_argument, 400},
           Case{Errc::malformed, 400},
           Case{Errc::permission_denied, 403},
           Case{Errc::not_found, 404},
           Case{Errc::already_exists, 409},
           Case{Errc::system, 500},
           Case{Errc::cancelled, 500},
           Case{Errc::unsupported, 501},
           Case{Errc::connection_reset, 502},
           Case{Errc::limit_reached, 503},
           Case{Errc::timed_out, 504},
       }) {
    SCOPED_TRACE(static_cast<int>(code));
    EXPECT_EQ(static_cast<int>(response_for(Error(code, "x")).status()), status);
  }
  log::set_level(log::Level::warning);
}

TEST(ResponseFor, TellsTheClientItsOwnMistakesAndLogsOurs) {
  std::string logged;
  log::set_level(log::Level::info);
  log::set_sink([&](log::Level, std::string_view line) { logged += line; });
  EXPECT_NE(response_for(Error(Errc::not_found, "find user 7")).body().find("find user 7"),
            std::string_view::npos);
  EXPECT_EQ(logged, "");
  EXPECT_EQ(response_for(Error(Errc::system, "open /etc/secret")).body().find("secret"),
            std::string_view::npos);
  EXPECT_NE(logged.find("open /etc/secret"), std::string::npos);
  log::set_sink({});
  log::set_level(log::Level::warning);
}

TEST(MakeHandler, KnowsWhatRunsAsACoroutine) {
  EXPECT_FALSE(detail::make_handler([](Request&) { return text(""); })->is_coroutine());
  EXPECT_FALSE(
      detail::make_handler([](Request&) -> Result<Response> { return text(""); })->is_coroutine());
  EXPECT_TRUE(
      detail::make_handler([](Request&) -> Task<Response> { co_return text(""); })->is_coroutine());
  EXPECT_TRUE(detail::make_handler([](Request&) -> Task<Result<Response>> {
                co_return text("");
              })->is_coroutine());
}

}  // namespace
}  // namespace sennit::http
