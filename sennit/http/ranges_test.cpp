#include "sennit/http/ranges.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::http {
namespace {

using Kind = Ranges::Kind;

TEST(ParseRanges, GivesWhatIsAskedForWithinTheLength) {
  struct Case {
    std::string field;
    Kind kind;
    std::vector<ByteRange> ranges;
  };
  for (const Case& each : {
           Case{"bytes=0-0", Kind::satisfiable, {{0, 1}}},
           Case{"bytes=2-5", Kind::satisfiable, {{2, 4}}},
           Case{"Bytes=2-", Kind::satisfiable, {{2, 8}}},
           Case{"bytes=-3", Kind::satisfiable, {{7, 3}}},
           Case{"bytes=-30", Kind::satisfiable, {{0, 10}}},
           Case{"bytes=5-99999999999999999999999", Kind::satisfiable, {{5, 5}}},
           Case{"bytes=0-1, 4-4 ,8-", Kind::satisfiable, {{0, 2}, {4, 1}, {8, 2}}},
           Case{"bytes=8-9,0-1", Kind::satisfiable, {{8, 2}, {0, 2}}},
           Case{"bytes=0-1,100-", Kind::satisfiable, {{0, 2}}},
           Case{"bytes=10-", Kind::unsatisfiable, {}},
           Case{"bytes=-0", Kind::unsatisfiable, {}},
           Case{"bytes=99999999999999999999999-", Kind::unsatisfiable, {}},
           Case{"bytes=5-2", Kind::ignored, {}},
           Case{"bytes=", Kind::ignored, {}},
           Case{"bytes=-", Kind::ignored, {}},
           Case{"bytes=a-b", Kind::ignored, {}},
           Case{"bytes=+1-2", Kind::ignored, {}},
           Case{"bytes=--1", Kind::ignored, {}},
           Case{"bytes=0-1,,", Kind::ignored, {}},
           Case{"items=0-1", Kind::ignored, {}},
           Case{"bytes=0-5,3-7", Kind::ignored, {}},
           Case{"bytes=0-,0-,0-", Kind::ignored, {}},
           Case{"", Kind::ignored, {}},
       }) {
    const Ranges got = parse_ranges(each.field, 10);
    EXPECT_EQ(got.kind, each.kind) << each.field;
    EXPECT_EQ(got.ranges, each.ranges) << each.field;
  }
  EXPECT_EQ(parse_ranges("bytes=0-", 0).kind, Kind::unsatisfiable);
}

TEST(ParseRanges, IgnoresMoreThanIsReasonable) {
  std::string field = "bytes=";
  for (std::size_t i = 0; i < ranges_max; ++i)
    field += std::to_string(2 * i) + "-" + std::to_string(2 * i) + ",";
  field.pop_back();
  EXPECT_EQ(parse_ranges(field, 1000).kind, Kind::satisfiable);
  EXPECT_EQ(parse_ranges(field + ",500-501", 1000).kind, Kind::ignored);
}

}  // namespace
}  // namespace sennit::http
