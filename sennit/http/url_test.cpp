#include "sennit/http/url.hpp"

#include <gtest/gtest.h>

namespace sennit::http {
namespace {

TEST(Url, TakesApartWhatItIsGiven) {
  struct Row {
    const char *text, *host, *authority, *target, *origin;
    int port;
  };
  const Row rows[] = {
      {"http://h", "h", "h", "/", "http://h:80", 80},
      {"HTTP://Ex-Ample.ORG:80?q", "ex-ample.org", "ex-ample.org", "/?q", "http://ex-ample.org:80",
       80},
      {"http://10.0.0.1:8080/a/b?c=d&e#f", "10.0.0.1", "10.0.0.1:8080", "/a/b?c=d&e",
       "http://10.0.0.1:8080", 8080},
      {"http://[::1]:81/", "::1", "[::1]:81", "/", "http://[::1]:81", 81},
      {"http://[::1]", "::1", "[::1]", "/", "http://[::1]:80", 80},
      {"http://h:/x", "h", "h", "/x", "http://h:80", 80},
      {"http+unix://%2Ftmp%2Fa.sock/x?y", "/tmp/a.sock", "localhost", "/x?y",
       "http+unix://%2Ftmp%2Fa.sock", 0},
  };
  for (const Row& row : rows) {
    const Result<Url> url = Url::parse(row.text);
    ASSERT_TRUE(url.has_value()) << row.text << ": " << url.error().to_string();
    EXPECT_EQ(url->host(), row.host) << row.text;
    EXPECT_EQ(url->authority(), row.authority) << row.text;
    EXPECT_EQ(url->target(), row.target) << row.text;
    EXPECT_EQ(url->origin(), row.origin) << row.text;
    EXPECT_EQ(url->port(), row.port) << row.text;
    EXPECT_EQ(Url::parse(url->to_string())->to_string(), url->to_string());
  }
}

TEST(Url, RefusesWhatCannotBeAsked) {
  const std::string bad[] = {"",
                             "h",
                             "http:",
                             "http:/h",
                             "http://",
                             "http:///p",
                             "http://:80",
                             "http://h:0",
                             "http://h:x",
                             "http://h:99999",
                             "http://a b",
                             "http://h/\n",
                             "http://h/\r\nX: y",
                             "http://u@h/",
                             "http://u:p@h/",
                             "http://[::1",
                             "http://[]/",
                             "http://a,b/",
                             "http://h:80:80/",
                             "http://%68/",
                             "http://h/\xc3\xa4",
                             "http+unix:///x",
                             "http+unix://%00/",
                             "://h",
                             "http://h/" + std::string(9000, 'a')};
  for (const std::string& text : bad) {
    const Result<Url> url = Url::parse(text);
    ASSERT_FALSE(url.has_value()) << text;
    EXPECT_EQ(url.error().code(), Errc::invalid_argument) << text;
  }
  EXPECT_EQ(Url::parse("https://h/").error().code(), Errc::unsupported);
  EXPECT_EQ(Url::parse("ftp://h/").error().code(), Errc::unsupported);
}

// RFC 3986, section 5.4, as far as it concerns http.
TEST(Url, ResolvesReferencesAsTheRfcSays) {
  const Url base = *Url::parse("http://a/b/c/d;p?q");
  const std::pair<const char*, const char*> rows[] = {
      {"g", "/b/c/g"},
      {"./g", "/b/c/g"},
      {"g/", "/b/c/g/"},
      {"/g", "/g"},
      {"?y", "/b/c/d;p?y"},
      {"g?y", "/b/c/g?y"},
      {"#s", "/b/c/d;p?q"},
      {"g#s", "/b/c/g"},
      {";x", "/b/c/;x"},
      {"", "/b/c/d;p?q"},
      {".", "/b/c/"},
      {"./", "/b/c/"},
      {"..", "/b/"},
      {"../g", "/b/g"},
      {"../..", "/"},
      {"../../g", "/g"},
      {"../../../g", "/g"},
      {"/./g", "/g"},
      {"/../g", "/g"},
      {"g.", "/b/c/g."},
      {"..g", "/b/c/..g"},
      {"./../g", "/b/g"},
      {"g/../h", "/b/c/h"},
      {"g;x=1/../y", "/b/c/y"},
      {"g?y/../x", "/b/c/g?y/../x"},
  };
  for (const auto& [reference, want] : rows) {
    const Result<Url> url = base.resolve(reference);
    ASSERT_TRUE(url.has_value()) << reference;
    EXPECT_EQ(url->target(), want) << reference;
    EXPECT_EQ(url->origin(), "http://a:80");
  }
  EXPECT_EQ(base.resolve("//g/x")->to_string(), "http://g/x");
  EXPECT_EQ(base.resolve("http://g:8/x")->to_string(), "http://g:8/x");
}

TEST(Url, FollowsNoReferenceToOtherSchemesOrFromTheNetworkToASocket) {
  const Url base = *Url::parse("http://a/");
  EXPECT_EQ(base.resolve("https://a/").error().code(), Errc::unsupported);
  EXPECT_EQ(base.resolve("file:///etc/passwd").error().code(), Errc::unsupported);
  EXPECT_EQ(base.resolve("http+unix://%2Frun%2Fdocker.sock/").error().code(),
            Errc::permission_denied);
  EXPECT_EQ(base.resolve("/a b").error().code(), Errc::invalid_argument);
  EXPECT_EQ(base.resolve("http:relative").error().code(), Errc::invalid_argument);
}

}  // namespace
}  // namespace sennit::http
