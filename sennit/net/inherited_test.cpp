#include "sennit/net/inherited.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "sennit/net/address.hpp"
#include "sennit/net/listener.hpp"

namespace sennit::net {
namespace {

class InheritedTest : public ::testing::Test {
 protected:
  InheritedTest() { listener_ = *open_listener(*Address::parse("127.0.0.1:0"), {}); }
  ~InheritedTest() override {
    ::close(listener_);
    ::unsetenv("LISTEN_PID");
    ::unsetenv("LISTEN_FDS");
  }
  static void hand_over(const std::string& pid, const std::string& count) {
    ::setenv("LISTEN_PID", pid.c_str(), 1);
    ::setenv("LISTEN_FDS", count.c_str(), 1);
  }
  int listener_ = -1;
};

TEST_F(InheritedTest, TakesWhatIsMeantForThisProcess) {
  EXPECT_TRUE(inherited_listeners(listener_)->empty());
  hand_over(std::to_string(::getpid()), "1");
  EXPECT_EQ(*inherited_listeners(listener_), std::vector<int>{listener_});
  hand_over(std::to_string(::getpid() + 1), "1");
  EXPECT_TRUE(inherited_listeners(listener_)->empty());
}

TEST_F(InheritedTest, RefusesWhatIsNoListeningSocket) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  hand_over(std::to_string(::getpid()), "1");
  EXPECT_EQ(inherited_listeners(ends[0]).error().code(), Errc::invalid_argument);
  EXPECT_EQ(duplicate_listener(ends[0]).error().code(), Errc::invalid_argument);
  EXPECT_EQ(duplicate_listener(-1).error().code(), Errc::invalid_argument);
  ::close(ends[0]);
  ::close(ends[1]);
  for (const char* count : {"-1", "x", "1x", "99999999999999999999", "5000"}) {
    hand_over(std::to_string(::getpid()), count);
    EXPECT_FALSE(inherited_listeners(listener_).has_value()) << count;
  }
}

// The server before us refused connections while it stopped; that must not last.
TEST_F(InheritedTest, ADuplicateAcceptsAlthoughThisOneWasToldToRefuse) {
  ASSERT_TRUE(refuse_new_connections(listener_).has_value());
  const Result<int> own = duplicate_listener(listener_);
  ASSERT_TRUE(own.has_value());
  const Address address = *Address::local_of(*own);
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(client, static_cast<const sockaddr*>(address.data()),
                      static_cast<socklen_t>(address.size())),
            0);
  ::close(client);
  ::close(*own);
}

}  // namespace
}  // namespace sennit::net
