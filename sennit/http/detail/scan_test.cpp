#include "sennit/http/detail/scan.hpp"

#include <gtest/gtest.h>
#include <string>

#include "sennit/base/random.hpp"

namespace sennit::http::detail {
namespace {

TEST(Scan, FindsEachByteThatEndsAValueAtEachPlace) {
  for (int c = 0; c < 256; ++c) {
    const bool ends_value = (c < 0x20 && c != '\t') || c == 0x7f;
    const bool ends_target = c <= 0x20 || c >= 0x7f || c == '#';
    for (std::size_t length = 1; length <= 50; ++length) {
      for (std::size_t at = 0; at < length; ++at) {
        std::string text(length, 'a');
        text[at] = static_cast<char>(c);
        const char* const end = text.data() + length;
        const char* const value_end = ends_value ? text.data() + at : end;
        const char* const target_end = ends_target ? text.data() + at : end;
        ASSERT_EQ(find_value_end(text.data(), end), value_end) << c << " at " << at;
        ASSERT_EQ(find_value_end_scalar(text.data(), end), value_end) << c << " at " << at;
        ASSERT_EQ(find_target_end(text.data(), end), target_end) << c << " at " << at;
        ASSERT_EQ(find_target_end_scalar(text.data(), end), target_end) << c << " at " << at;
      }
    }
  }
}

TEST(Scan, IsEqualToItsScalarTwinOnRandomBytes) {
  Random random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random.below(80), '\0');
    for (char& c : text) c = static_cast<char>(random.below(16) == 0 ? random.below(256) : 'x');
    const char* const end = text.data() + text.size();
    ASSERT_EQ(find_value_end(text.data(), end), find_value_end_scalar(text.data(), end));
    ASSERT_EQ(find_target_end(text.data(), end), find_target_end_scalar(text.data(), end));
  }
}

}  // namespace
}  // namespace sennit::http::detail
