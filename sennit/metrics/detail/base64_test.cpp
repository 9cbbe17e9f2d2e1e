#include "sennit/metrics/detail/base64.hpp"

#include <gtest/gtest.h>

namespace sennit::metrics::detail {
namespace {

TEST(Base64, MatchesTheVectorsOfItsStandard) {
  struct Case {
    std::string_view bytes, text;
  };
  for (const auto& [bytes, text] :
       {Case{"", ""}, Case{"f", "Zg=="}, Case{"fo", "Zm8="}, Case{"foo", "Zm9v"},
        Case{"foob", "Zm9vYg=="}, Case{"fooba", "Zm9vYmE="}, Case{"foobar", "Zm9vYmFy"},
        Case{"\xff\xef\xbe", "/+++"}}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(base64_encode(as_bytes(bytes)), text);
    const auto decoded = base64_decode(text);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(as_text(*decoded), bytes);
  }
}

TEST(Base64, RefusesWhatIsNotWhole) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Zm9v!mFy", "Zh==", "Zm9=", "Zm=v", "Zm9v\n"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(base64_decode(text).has_value());
  }
}

}  // namespace
}  // namespace sennit::metrics::detail
