#include "sennit/http/status.hpp"

#include <gtest/gtest.h>

namespace sennit::http {
namespace {

TEST(Status, HasItsReasonPhraseOrNone) {
  EXPECT_EQ(reason_phrase(Status::not_found), "Not Found");
  EXPECT_EQ(reason_phrase(Status::continue_), "Continue");
  EXPECT_EQ(reason_phrase(Status::http_version_not_supported), "HTTP Version Not Supported");
  EXPECT_EQ(status_line(Status::ok), "HTTP/1.1 200 OK\r\n");
  for (const int code : {0, 99, 299, 599, 600, 999, 65535}) {
    EXPECT_EQ(reason_phrase(static_cast<Status>(code)), "") << code;
  }
}

}  // namespace
}  // namespace sennit::http
