#include "sennit/http/accept_encoding.hpp"

#include <gtest/gtest.h>
#include <optional>
#include <string>

namespace sennit::http {
namespace {

TEST(ChooseCoding, TakesTheGreatestWeight) {
  struct Case {
    std::string field;
    std::optional<Coding> want;
  };
  for (const Case& each : {
           Case{"gzip", Coding::gzip},
           Case{"gzip, deflate, br, zstd", Coding::zstd},
           Case{"GZIP;Q=1.0, zstd;q=0.9", Coding::gzip},
           Case{"x-gzip", Coding::gzip},
           Case{"*", Coding::zstd},
           Case{"zstd;q=0, *", Coding::gzip},
           Case{"gzip;q=0", Coding::identity},
           Case{"gzip;q=0.001", Coding::gzip},
           Case{"identity;q=0.5, gzip;q=0.4", Coding::identity},
           Case{"identity;q=0", std::nullopt},
           Case{"identity;q=0, gzip", Coding::gzip},
           Case{"*;q=0", std::nullopt},
           Case{"*;q=0, identity", Coding::identity},
           Case{"br", Coding::identity},
           Case{"", Coding::identity},
           Case{"gzip;q=2", Coding::identity},
           Case{"gzip;q=-1", Coding::identity},
           Case{"gzip;q=0.1234", Coding::identity},
           Case{"gzip;level=9", Coding::identity},
           Case{"g zip", Coding::identity},
       }) {
    EXPECT_EQ(choose_coding(each.field), each.want) << each.field;
  }
  EXPECT_EQ(choose_coding(std::nullopt), Coding::identity);
}

}  // namespace
}  // namespace sennit::http
