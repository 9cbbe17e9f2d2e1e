#include "sennit/net/listener.hpp"

#include <cerrno>
#include <cstdio>
#include <gtest/gtest.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace sennit::net {
namespace {

Address any_port() { return *Address::parse("127.0.0.1:0"); }

int begin_connecting(const Address& address) {
  const int descriptor = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK, 0);
  const int connected = ::connect(descriptor, static_cast<const sockaddr*>(address.data()),
                                  static_cast<socklen_t>(address.size()));
  EXPECT_TRUE(connected == 0 || errno == EINPROGRESS) << errno;
  return descriptor;
}

bool becomes_ready(int descriptor, short event, int milliseconds) {
  pollfd watched{.fd = descriptor, .events = event, .revents = 0};
  return ::poll(&watched, 1, milliseconds) == 1;
}

TEST(OpenListener, SaysWhatItCouldNotListenOnAndWhy) {
  const int first = *open_listener(any_port(), {});
  const Address taken = *Address::local_of(first);
  const auto refused = open_listener(taken, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::already_exists);
  EXPECT_EQ(refused.error().doing(), "listen on " + taken.to_string());
  EXPECT_FALSE(open_listener(taken, {.reuse_port = true}).has_value())
      << "one that did not ask to share keeps the address";
  ::close(first);
  EXPECT_EQ(open_listener(*Address::parse("192.0.2.1:80"), {}).error().os_error(), EADDRNOTAVAIL);
}

TEST(OpenListener, SharesAnAddressAmongThoseThatAskForIt) {
  const int first = *open_listener(any_port(), {.reuse_port = true});
  const auto second = open_listener(*Address::local_of(first), {.reuse_port = true});
  EXPECT_TRUE(second.has_value());
  ::close(first);
  ::close(*second);
}

TEST(OpenListener, TakesOverAPathOnlyFromTheDead) {
  const std::string path = "/tmp/sennit-listener-test-" + std::to_string(::getpid());
  const Address address = *Address::parse("unix:" + path);
  const int first = *open_listener(address, {});
  EXPECT_EQ(open_listener(address, {}).error().code(), Errc::already_exists);
  ::close(first);
  const auto second = open_listener(address, {});
  EXPECT_TRUE(second.has_value());
  ::close(*second);
  std::remove(path.c_str());
}

TEST(OpenListener, DoesNotRemoveAFileThatIsNoSocket) {
  const std::string path = "/tmp/sennit-listener-file-" + std::to_string(::getpid());
  std::FILE* file = std::fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fclose(file);
  EXPECT_FALSE(open_listener(*Address::parse("unix:" + path), {}).has_value());
  EXPECT_EQ(::access(path.c_str(), F_OK), 0);
  std::remove(path.c_str());
}

// Both the dropped attempt and the connection begun before it: what a graceful stop relies on.
TEST(RefuseNewConnections, KeepsThoseBegunAndDropsTheRest) {
  const int listener = *open_listener(any_port(), {});
  const Address address = *Address::local_of(listener);
  const int begun = begin_connecting(address);
  ASSERT_TRUE(becomes_ready(begun, POLLOUT, 1000));
  ASSERT_TRUE(refuse_new_connections(listener).has_value());
  const int late = begin_connecting(address);
  EXPECT_FALSE(becomes_ready(late, POLLOUT, 50)) << "its attempts are dropped, not refused";

  ASSERT_EQ(::send(begun, "x", 1, MSG_NOSIGNAL), 1);
  const int accepted = ::accept(listener, nullptr, nullptr);
  ASSERT_GE(accepted, 0);
  ASSERT_TRUE(becomes_ready(accepted, POLLIN, 1000));
  char byte = 0;
  EXPECT_EQ(::recv(accepted, &byte, 1, 0), 1);
  for (const int descriptor : {begun, late, accepted, listener}) ::close(descriptor);
}

TEST(RefuseNewConnections, SaysWhenItIsNoSocket) {
  EXPECT_FALSE(refuse_new_connections(0).has_value());
  EXPECT_FALSE(refuse_new_connections(-1).has_value());
}

}  // namespace
}  // namespace sennit::net
