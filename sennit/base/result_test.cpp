#include "sennit/base/result.hpp"

#include <cerrno>
#include <gtest/gtest.h>

namespace sennit {
namespace {

TEST(Error, MapsWhatTheSystemSaysToACode) {
  struct Case {
    int os_error;
    Errc code;
  };
  for (const auto [os_error, code] : {
           Case{ECANCELED, Errc::cancelled},
           Case{ETIMEDOUT, Errc::timed_out},
           Case{EPIPE, Errc::connection_reset},
           Case{ECONNREFUSED, Errc::connection_refused},
           Case{EHOSTUNREACH, Errc::unreachable},
           Case{EMFILE, Errc::limit_reached},
           Case{ENOMEM, Errc::out_of_memory},
           Case{ENOENT, Errc::not_found},
           Case{EADDRINUSE, Errc::already_exists},
           Case{EACCES, Errc::permission_denied},
           Case{ENOSYS, Errc::unsupported},
           Case{EIO, Errc::system},
           Case{99999, Errc::system},
       }) {
    SCOPED_TRACE(os_error);
    EXPECT_EQ(Error::from_os(os_error, "x").code(), code);
    EXPECT_EQ(Error::from_os(os_error, "x").os_error(), os_error);
  }
}

TEST(Error, SaysWhatWasDoneAndWhatTheSystemSaid) {
  EXPECT_EQ(Error::from_os(EACCES, "listen on 127.0.0.1:80").to_string(),
            "listen on 127.0.0.1:80: permission denied (EACCES: Permission denied)");
  EXPECT_EQ(Error(Errc::limit_reached, "borrow a stack").to_string(),
            "borrow a stack: limit reached");
  EXPECT_EQ(Error(Errc::cancelled).to_string(), "cancelled");
  EXPECT_EQ(Error::from_os(99999, "x").to_string(), "x: system error (errno 99999)");
}

TEST(Error, HasWordsForEveryCode) {
  for (int code = 0; code <= static_cast<int>(Errc::system); ++code) {
    EXPECT_NE(to_string(static_cast<Errc>(code)), "unknown error") << code;
  }
}

Result<int> half(int number) {
  if (number % 2 != 0) return failure(Errc::invalid_argument, "halve an odd number");
  return number / 2;
}

Result<int> quarter(int number) {
  SENNIT_TRY(const int halved, half(number));
  SENNIT_TRY(const int quartered, half(halved));
  return quartered;
}

TEST(Try, GoesOnWithTheValueOrReturnsTheError) {
  EXPECT_EQ(quarter(8), 2);
  EXPECT_EQ(quarter(6).error().code(), Errc::invalid_argument);
  EXPECT_EQ(quarter(5).error().to_string(), "halve an odd number: invalid argument");
}

}  // namespace
}  // namespace sennit
