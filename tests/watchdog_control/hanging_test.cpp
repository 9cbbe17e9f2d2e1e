// A test that hangs on purpose: the watchdog of tests/main.cpp must name it and end the program.

#include <gtest/gtest.h>
#include <unistd.h>

TEST(Watchdog, NamesATestThatHangs) {
  for (;;) ::pause();
}
