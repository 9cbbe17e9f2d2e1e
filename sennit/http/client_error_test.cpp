#include "sennit/http/client_error.hpp"

#include <gtest/gtest.h>

namespace sennit::http {
namespace {

TEST(ClientError, SaysPhaseReasonAndTries) {
  ClientError error(Phase::first_byte, Error(Errc::timed_out, "ask http://h/"));
  EXPECT_EQ(error.to_string(), "first byte: ask http://h/: timed out");
  error.set_tries(3);
  EXPECT_EQ(error.to_string(), "first byte: ask http://h/: timed out (tried 3 times)");
}

TEST(ClientError, NamesEveryPhase) {
  for (int i = 0; i <= static_cast<int>(Phase::redirect); ++i) {
    EXPECT_NE(to_string(static_cast<Phase>(i)), "unknown phase") << i;
  }
}

}  // namespace
}  // namespace sennit::http
