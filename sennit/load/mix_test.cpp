#include "sennit/load/mix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string rendered(std::string_view text, std::uint64_t sequence, Random& random) {
  Buffer out;
  Template::parse(text)->append_to(out, sequence, random);
  return std::string(out.view());
}

TEST(Template, FillsItsVariables) {
  Random random(1);
  EXPECT_EQ(rendered("plain", 7, random), "plain");
  EXPECT_EQ(rendered("{seq}", 7, random), "7");
  EXPECT_EQ(rendered("a{seq}b{seq}c", 12, random), "a12b12c");
  EXPECT_EQ(rendered("{{{seq}}}", 1, random), "{1}");
  EXPECT_EQ(rendered("{5..5}", 1, random), "5");
  EXPECT_EQ(rendered("{-3..-3}", 1, random), "-3");
  bool has_low = false, has_high = false;
  for (int i = 0; i < 1000; ++i) {
    const std::string value = rendered("{0..3}", 0, random);
    ASSERT_THAT(value, MatchesRegex("[0-3]"));
    has_low |= value == "0";
    has_high |= value == "3";
  }
  EXPECT_TRUE(has_low && has_high);
}

TEST(Template, CoversTheWholeRangeOfNumbers) {
  Random random(1);
  EXPECT_EQ(rendered("{-9223372036854775808..-9223372036854775808}", 0, random),
            "-9223372036854775808");
  for (int i = 0; i < 100; ++i) {
    rendered("{-9223372036854775808..9223372036854775807}", 0, random);
  }
}

TEST(Template, KnowsWhetherItIsConstant) {
  EXPECT_TRUE(Template::parse("a{{b")->is_constant());
  EXPECT_FALSE(Template::parse("{seq}")->is_constant());
  EXPECT_TRUE(Template::literal("{seq}").is_constant());
}

TEST(Template, RefusesBracesThatAreNoVariables) {
  for (const auto& [text, said] : {
           std::pair{"{", "character 1"},
           std::pair{"ab{seq", "character 3"},
           std::pair{"}", "character 1"},
           std::pair{"{}", "'{}'"},
           std::pair{"{body}", "'{body}'"},
           std::pair{"{2..1}", "'{2..1}'"},
           std::pair{"{1..}", "'{1..}'"},
           std::pair{"{..1}", "'{..1}'"},
           std::pair{"{1..99999999999999999999}", "'{1..9999"},
       }) {
    const auto refused = Template::parse(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_THAT(refused.error().to_string(), HasSubstr(said));
  }
}

TEST(Mix, IsReadFromJson) {
  const auto mix = parse_mix(R"([
    {"weight": 9, "path": "/users/{1..1000}"},
    {"method": "PUT", "path": "/log", "headers": {"X-Id": "{seq}"}, "body": "{{}}"},
    {"body": "x"}])");
  ASSERT_TRUE(mix.has_value()) << mix.error().to_string();
  ASSERT_EQ(mix->size(), 3);
  EXPECT_EQ((*mix)[0].weight, 9);
  EXPECT_EQ((*mix)[0].method, "GET");
  EXPECT_EQ((*mix)[1].method, "PUT");
  EXPECT_EQ((*mix)[1].headers.at(0).first, "X-Id");
  EXPECT_EQ((*mix)[2].method, "POST");
  EXPECT_EQ((*mix)[2].path, "/");
}

TEST(Mix, NamesTheEntryThatIsWrong) {
  for (const auto& [text, said] : {
           std::pair{"", "JSON array"},
           std::pair{"{}", "JSON array"},
           std::pair{"[]", "0 requests"},
           std::pair{"[1]", "entry 1"},
           std::pair{R"([{}, {"weight": -1}])", "entry 2"},
           std::pair{R"([{"weight": 1e9}])", "weight"},
           std::pair{R"([{"path": 1}])", "path"},
           std::pair{R"([{"path": "/{x}"}])", "'{x}'"},
           std::pair{R"([{"headers": {"A": "{"}}])", "brace"},
           std::pair{R"([{"headers": []}])", "headers"},
           std::pair{R"([{"url": "/"}])", "'url'"},
       }) {
    const auto refused = parse_mix(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_THAT(refused.error().to_string(), HasSubstr(said));
  }
}

}  // namespace
}  // namespace sennit::load
