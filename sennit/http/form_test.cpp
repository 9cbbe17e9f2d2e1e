#include "sennit/http/form.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sennit::http {
namespace {

TEST(Form, ReadsPairsInOrderDecoded) {
  const auto form = Form::parse("a=1&b=x+y%26&&a=2&flag&=empty");
  ASSERT_TRUE(form.has_value());
  EXPECT_EQ(form->get("a"), "1");
  EXPECT_EQ(form->get_all("a").size(), 2U);
  EXPECT_EQ(form->get("b"), "x y&");
  EXPECT_EQ(form->get("flag"), "");
  EXPECT_EQ(form->get("none"), std::nullopt);
  EXPECT_EQ(form->get_or("none", "other"), "other");
  EXPECT_EQ(form->pairs().size(), 5U);
  EXPECT_TRUE(Form::parse("")->pairs().empty());
}

TEST(Form, RefusesWrongEscapesAndTooManyPairs) {
  for (const auto* text : {"a=%", "a=%4", "a=%zz", "%zz=1"}) {
    EXPECT_EQ(Form::parse(text).error().code(), Errc::malformed) << text;
  }
  std::string many;
  for (std::size_t i = 0; i < Form::pairs_max; ++i) many += "a=1&";
  EXPECT_TRUE(Form::parse(many).has_value());
  EXPECT_EQ(Form::parse(many + "a=1").error().code(), Errc::limit_reached);
}

}  // namespace
}  // namespace sennit::http
