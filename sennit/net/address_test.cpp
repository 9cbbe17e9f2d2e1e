#include "sennit/net/address.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sennit::net {
namespace {

TEST(Address, RefusesWhatIsNoAddressAndSaysWhy) {
  struct Case {
    std::string text;
    std::string reason;
  };
  for (const Case& each : {
           Case{"", "host:port"},
           Case{"80", "host:port"},
           Case{"127.0.0.1", "host:port"},
           Case{"127.0.0.1:", "port"},
           Case{"127.0.0.1:65536", "0 to 65535"},
           Case{"127.0.0.1:-1", "0 to 65535"},
           Case{"127.0.0.1:80x", "0 to 65535"},
           Case{"127.0.0.256:80", "numeric"},
           Case{"example.org:80", "numeric"},
           Case{"::1:80", "brackets"},
           Case{"[::1:80", "brackets"},
           Case{"unix:", "1 to 107"},
           Case{"unix:/" + std::string(107, 'x'), "1 to 107"},
       }) {
    SCOPED_TRACE(each.text);
    const auto refused = Address::parse(each.text);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), Errc::invalid_argument);
    EXPECT_NE(refused.error().to_string().find(each.reason), std::string::npos)
        << refused.error().to_string();
  }
}

TEST(Address, ReadsBackWhatItPrints) {
  struct Case {
    std::string text, printed;
    int port;
  };
  for (const Case& each : {
           Case{"127.0.0.1:80", "127.0.0.1:80", 80},
           Case{"localhost:8080", "127.0.0.1:8080", 8080},
           Case{":0", "0.0.0.0:0", 0},
           Case{"[::1]:65535", "[::1]:65535", 65535},
           Case{"unix:/tmp/a.sock", "unix:/tmp/a.sock", 0},
       }) {
    SCOPED_TRACE(each.text);
    const auto address = Address::parse(each.text);
    ASSERT_TRUE(address.has_value()) << address.error().to_string();
    EXPECT_EQ(address->to_string(), each.printed);
    EXPECT_EQ(address->port(), each.port);
    EXPECT_EQ(address->is_unix(), each.text.starts_with("unix"));
    EXPECT_EQ(Address::parse(address->to_string())->to_string(), each.printed);
  }
}

TEST(Address, SaysWhichDescriptorHasNone) {
  EXPECT_EQ(Address::local_of(-1).error().doing(), "ask a socket for its address");
}

TEST(Address, ChangesItsPortAndIsComparedWithIt) {
  for (const char* text : {"127.0.0.1:80", "[::1]:80"}) {
    const Address address = *Address::parse(text);
    const Address other = address.with_port(8080);
    EXPECT_EQ(other.port(), 8080);
    EXPECT_FALSE(other == address);
    EXPECT_TRUE(other.with_port(80) == address);
    EXPECT_TRUE(*Address::from_sockaddr(address.data(), address.size()) == address);
    EXPECT_FALSE(Address::from_sockaddr(address.data(), address.size() - 1).has_value());
  }
  const Address local = *Address::parse("unix:/tmp/x");
  EXPECT_TRUE(local.with_port(80) == local);
  EXPECT_FALSE(Address::from_sockaddr("", 0).has_value());
}

}  // namespace
}  // namespace sennit::net
