#include "sennit/runtime/simulated/detail/socket_name.hpp"

#include <array>
#include <cerrno>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace sennit::runtime::simulated::detail {
namespace {

TEST(SocketName, RefusesWhatIsNoAddress) {
  sockaddr_storage storage{};
  EXPECT_EQ(name_from_sockaddr(&storage, 1).error().os_error(), EINVAL);
  EXPECT_EQ(name_from_sockaddr(&storage, sizeof storage).error().os_error(), EAFNOSUPPORT);
  storage.ss_family = AF_INET;
  EXPECT_EQ(name_from_sockaddr(&storage, 4).error().os_error(), EINVAL);
  storage.ss_family = AF_UNIX;
  EXPECT_EQ(name_from_sockaddr(&storage, 2).error().os_error(), EINVAL);
  EXPECT_EQ(sockaddr_from_name({.family = AF_INET, .host = "1.2.3.4", .port = 1}, &storage, 2)
                .error()
                .os_error(),
            EINVAL);
}

TEST(SocketName, ComesBackAsItWas) {
  for (const SocketName& name :
       {SocketName{.family = AF_INET, .host = "10.0.0.1", .port = 80},
        SocketName{.family = AF_INET6, .host = "fe80::1", .port = 65535},
        SocketName{.family = AF_UNIX, .host = "/run/service.sock", .port = 0}}) {
    sockaddr_storage storage{};
    const auto bytes = sockaddr_from_name(name, &storage, sizeof storage);
    ASSERT_TRUE(bytes.has_value());
    EXPECT_EQ(name_from_sockaddr(&storage, *bytes), name);
  }
}

}  // namespace
}  // namespace sennit::runtime::simulated::detail
