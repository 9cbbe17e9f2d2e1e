#include "sennit/http/json.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sennit::http {
namespace {

TEST(ParseJson, TakesWhatIsJson) {
  for (const auto* text :
       {"1", "-1.5e3", "\"x\"", "null", "true", "[]", "{}", "[[],{\"a\":[1,{}]}]", "[1,[2,[3]],4]",
        "{\"a\":{\"b\":1},\"c\":[{}]}", " [ 1 ] "}) {
    const auto parsed = parse_json(text);
    ASSERT_TRUE(parsed.has_value()) << text;
    EXPECT_EQ(*parsed, nlohmann::json::parse(text));
  }
}

TEST(ParseJson, RefusesWhatIsNotOrWouldBeMisread) {
  for (const auto* text : {"", "{", "[1,]", "nul", "01", "1 2", "{\"a\":1,\"a\":2}", "\"\xc0\x80\"",
                           "\"\xed\xa0\x80\"", "1e999", "-1e999", "18446744073709551616",
                           "{\"a\":{\"b\":1,\"b\":1}}", "\"\x01\"", "NaN"}) {
    EXPECT_FALSE(parse_json(text).has_value()) << text;
  }
}

TEST(ParseJson, GoesSoDeepAndNoDeeper) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(json_depth_max)).has_value());
  EXPECT_EQ(parse_json(nested(json_depth_max + 1)).error().code(), Errc::limit_reached);
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')).has_value());
}

}  // namespace
}  // namespace sennit::http
