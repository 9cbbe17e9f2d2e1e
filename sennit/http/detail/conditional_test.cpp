#include "sennit/http/detail/conditional.hpp"

#include <gtest/gtest.h>

#include "sennit/http/h1/serializer.hpp"

namespace sennit::http::detail {
namespace {

TEST(ParseHttpDate, ReadsWhatIsWrittenAndNothingElse) {
  for (const long seconds : {0L, 784111777L, 951782400L, 4102444799L}) {
    const WallTime time{std::chrono::seconds(seconds)};
    EXPECT_EQ(parse_http_date(h1::http_date(time)), time);
  }
  for (const auto* text :
       {"", "nonsense", "Sun, 06 Nov 1994 08:49:37 UTC", "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 0x Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994     "}) {
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace sennit::http::detail
