#include "sennit/http/percent.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sennit::http {
namespace {

using namespace std::literals;

std::string decoded(std::string_view text) {
  std::string out;
  append_percent_decoded(out, text);
  return out;
}

TEST(PercentEncoding, RefusesEscapesThatAreNotTwoHexDigits) {
  for (const auto text : {"%", "a%", "%4", "%4g", "%g4", "%%41", "%41%", "%+1"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(has_valid_escapes(text));
    EXPECT_EQ(form_decoded(text), std::nullopt);
  }
}

TEST(PercentEncoding, IsDecodedOnce) {
  struct Row {
    std::string_view text, plain, form;
  };
  for (const auto& [text, plain, form] : {
           Row{"", "", ""},
           Row{"a+b", "a+b", "a b"},
           Row{"a%20b%2B", "a b+", "a b+"},
           Row{"%2f%2F", "//", "//"},
           Row{"%252F", "%2F", "%2F"},
           Row{"%00", "\0"sv, "\0"sv},
           Row{"%c3%BC", "ü", "ü"},
       }) {
    SCOPED_TRACE(text);
    EXPECT_TRUE(has_valid_escapes(text));
    EXPECT_EQ(decoded(text), plain);
    EXPECT_EQ(form_decoded(text), form);
  }
  EXPECT_EQ(decoded("%zz%4"), "%zz%4");
}

TEST(PercentEncoding, GivesBackEveryByte) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  std::string encoded;
  append_percent_encoded(encoded, all);
  EXPECT_EQ(decoded(encoded), all);
  EXPECT_EQ(form_decoded(encoded), all);
  EXPECT_EQ(encoded.substr(0, 6), "%00%01");
  EXPECT_NE(encoded.find("-.%2F0123456789%3A"), std::string::npos);
}

}  // namespace
}  // namespace sennit::http
