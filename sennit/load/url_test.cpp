#include "sennit/load/url.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

TEST(Url, SaysWhatIsWrong) {
  struct Case {
    std::string_view text, complaint;
  };
  for (const auto& [text, complaint] : {
           Case{"", "begin with http://"},
           Case{"127.0.0.1:8080/", "begin with http://"},
           Case{"ftp://host/", "begin with http://"},
           Case{"https://host/", "TLS is not built in"},
           Case{"HTTPS://host/", "TLS is not built in"},
           Case{"http://", "a host is expected"},
           Case{"http:///path", "a host is expected"},
           Case{"http://:8080/", "a host is expected"},
           Case{"http://[]/", "a host is expected"},
           Case{"http://[::1/", "a host is expected"},
           Case{"http://ho$t/", "a host is expected"},
           Case{"http://host:/", "port"},
           Case{"http://host:0/", "port"},
           Case{"http://host:65536/", "port"},
           Case{"http://host:80x/", "port"},
           Case{"http://host:-1/", "port"},
           Case{"http://[::1]8080/", "port"},
           Case{"http://::1/", "in brackets"},
           Case{"http://user:secret@host/", "Authorization"},
           Case{"http://host/a b", "percent-encoded"},
           Case{"http://host/\r\nX: y", "percent-encoded"},
           Case{"http://host/\xc3\xa4", "percent-encoded"},
       }) {
    SCOPED_TRACE(text);
    const auto url = Url::parse(text);
    ASSERT_FALSE(url.has_value());
    EXPECT_THAT(url.error().to_string(), ::testing::HasSubstr(complaint));
  }
}

TEST(Url, FindsHostPortAndTarget) {
  struct Case {
    std::string_view text, host;
    std::uint16_t port;
    std::string_view target, authority;
  };
  for (const auto& [text, host, port, target, authority] : {
           Case{"http://host", "host", 80, "/", "host"},
           Case{"HTTP://host/", "host", 80, "/", "host"},
           Case{"http://host:80/x", "host", 80, "/x", "host"},
           Case{"http://10.0.0.1:8080/a/b?c=d&e", "10.0.0.1", 8080, "/a/b?c=d&e", "10.0.0.1:8080"},
           Case{"http://host?query", "host", 80, "/?query", "host"},
           Case{"http://host/a#fragment", "host", 80, "/a", "host"},
           Case{"http://host#fragment", "host", 80, "/", "host"},
           Case{"http://host/a@b:c", "host", 80, "/a@b:c", "host"},
           Case{"http://[::1]:8080/", "::1", 8080, "/", "[::1]:8080"},
           Case{"http://[fe80::1]", "fe80::1", 80, "/", "[fe80::1]"},
       }) {
    SCOPED_TRACE(text);
    const auto url = Url::parse(text);
    ASSERT_TRUE(url.has_value()) << url.error().to_string();
    EXPECT_EQ(url->text(), text);
    EXPECT_EQ(url->host(), host);
    EXPECT_EQ(url->port(), port);
    EXPECT_EQ(url->target(), target);
    EXPECT_EQ(url->authority(), authority);
  }
}

}  // namespace
}  // namespace sennit::load
