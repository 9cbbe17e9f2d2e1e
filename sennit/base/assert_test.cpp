#include "sennit/base/assert.hpp"

#include <gtest/gtest.h>

namespace sennit {
namespace {

TEST(Assert, LetsATrueConditionPass) {
  SENNIT_ASSERT(1 + 1 == 2);
  SENNIT_ASSERT(true, 1, "text");
}

TEST(AssertDeathTest, PrintsTheConditionAndEachValue) {
  const int have = 3;
  const std::string name = "queue";
  EXPECT_DEATH(SENNIT_ASSERT(have < 2, have, name), "assert_test.cpp:.*have < 2[^$]*3, queue");
}

TEST(AssertDeathTest, PrintsEnumsAsNumbersAndPointersAsAddresses) {
  enum class Colour { red = 7 };
  const void* nowhere = nullptr;
  EXPECT_DEATH(SENNIT_ASSERT(false, Colour::red, nowhere), "7, 0x0");
}

}  // namespace
}  // namespace sennit
