#include "sennit/base/log.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace sennit::log {
namespace {

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    set_level(Level::info);
    set_sink([this](Level, std::string_view message) { lines_.emplace_back(message); });
  }
  ~LogTest() override { set_sink({}); }

  std::vector<std::string> lines_;
};

TEST_F(LogTest, FormatsAndFiltersByLevel) {
  debug("unseen {}", 1);
  info("seen {} of {}", 1, "two");
  error("seen too");
  EXPECT_EQ(lines_, (std::vector<std::string>{"seen 1 of two", "seen too"}));
  set_level(Level::off);
  error("unseen");
  EXPECT_EQ(lines_.size(), 2U);
}

TEST_F(LogTest, EscapesControlCharactersSoThatNobodyForgesALine) {
  info("path {}", "/a\r\n2026-01-01 info forged\t\x1b[31m\x7f");
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_EQ(lines_[0], "path /a\\r\\n2026-01-01 info forged\\t\\x1b[31m\\x7f");
}

TEST(LogLevel, KnowsItsNames) {
  EXPECT_EQ(level_from_name("trace", Level::info), Level::trace);
  EXPECT_EQ(level_from_name("off", Level::info), Level::off);
  EXPECT_EQ(level_from_name("loud", Level::warning), Level::warning);
  EXPECT_EQ(level_from_name("", Level::info), Level::info);
}

TEST(Log, WritesOneLineToStandardErrorWithoutASink) {
  ::testing::internal::CaptureStderr();
  set_level(Level::info);
  warning("disk {}% full", 93);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(text.ends_with(" warning disk 93% full\n")) << text;
}

}  // namespace
}  // namespace sennit::log
