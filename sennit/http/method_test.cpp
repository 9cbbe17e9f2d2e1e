#include "sennit/http/method.hpp"

#include <gtest/gtest.h>

namespace sennit::http {
namespace {

TEST(Method, IsNamedAsSentAndKnownByCase) {
  for (std::size_t i = 0; i + 1 < method_count; ++i) {
    const auto method = static_cast<Method>(i);
    EXPECT_EQ(method_from_string(to_string(method)), method);
  }
  for (const auto name : {"", "get", "GETS", "GE", "PROPFIND"}) {
    EXPECT_EQ(method_from_string(name), Method::other) << name;
  }
}

}  // namespace
}  // namespace sennit::http
