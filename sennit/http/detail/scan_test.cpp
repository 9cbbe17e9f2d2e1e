#include "sennit/http/detail/scan.hpp"

#include <gtest/gtest.h>
#include <string>

#include "sennit/base/random.hpp"

namespace sennit::http::detail {
namespace {

TEST(Scan, FindsEachByteThatEndsAValueAtEachPlace) {
  for (int c = 0; c < 256; ++c) {
    const bool ends = (c < 0x20 && c != '\t') || c == 0x7f;
    EXPECT_EQ(is(static_cast<char>(c), value_char), !ends) << c;
    for (std::size_t length = 1; length <= 50; ++length) {
      for (std::size_t at = 0; at < length; ++at) {
        std::string text(length, 'a');
        text[at] = static_cast<char>(c);
        const char* const end = text.data() + length;
        const char* const want = ends ? text.data() + at : end;
        ASSERT_EQ(find_value_end(text.data(), end), want) << c << " at " << at << "/" << length;
        ASSERT_EQ(find_value_end_scalar(text.data(), end), want);
      }
    }
  }
}

TEST(Scan, IsEqualToItsScalarTwinOnRandomBytes) {
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random.below(80), '\0');
    for (char& c : text) c = static_cast<char>(random.below(8) == 0 ? random.below(256) : 'x');
    const char* const end = text.data() + text.size();
    ASSERT_EQ(find_value_end(text.data(), end), find_value_end_scalar(text.data(), end));
  }
}

}  // namespace
}  // namespace sennit::http::detail
