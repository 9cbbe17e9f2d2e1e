#include "sennit/http/files.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "sennit/http/compression.hpp"
#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using testing::body_of;
using testing::status_of;

class FilesTest : public testing::ServerTest {
 protected:
  FilesTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sennit_files_XXXXXX").string();
    base_ = ::mkdtemp(pattern.data());
    root_ = base_ / "root";
    std::filesystem::create_directories(root_ / "sub");
    write(root_ / "ten.txt", "0123456789");
    write(root_ / "sub" / "index.html", "<p>index</p>");
    write(root_ / "large.bin", large_);
    write(root_ / ".hidden", "secret");
    write(base_ / "outside.txt", "secret");
    std::filesystem::create_symlink("../outside.txt", root_ / "link_out");
    std::filesystem::create_symlink("/etc/passwd", root_ / "link_abs");
    ::mkfifo((root_ / "fifo").c_str(), 0600);
    const auto files = StaticFiles::open(root_.string());
    EXPECT_TRUE(files.has_value());
    server_.get("/f/{rest*}", files->handler("rest"));
    server_.group("/z").use(compression()).get("/{rest*}", files->handler("rest"));
  }
  ~FilesTest() override { std::filesystem::remove_all(base_); }
  static void write(const std::filesystem::path& path, std::string_view content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  [[nodiscard]] std::string ask_with(const std::string& path, const std::string& fields) const {
    return ask("GET " + path + " HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n");
  }
  static std::string field_of(const std::string& response, const std::string& name) {
    const std::size_t at = response.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const std::size_t begin = at + name.size() + 4;
    return response.substr(begin, response.find("\r\n", begin) - begin);
  }

  std::filesystem::path base_, root_;
  const std::string large_ = std::string(3'000'000, 'L') + "end";
};

TEST_P(FilesTest, AreSentWholeWithTheirTypeAndValidators) {
  start();
  const std::string ten = ask(get("/f/ten.txt"));
  EXPECT_EQ(status_of(ten), 200);
  EXPECT_EQ(body_of(ten), "0123456789");
  EXPECT_EQ(field_of(ten, "Content-Type"), "text/plain; charset=utf-8");
  EXPECT_EQ(field_of(ten, "Accept-Ranges"), "bytes");
  EXPECT_FALSE(field_of(ten, "ETag").empty());
  EXPECT_EQ(body_of(ask(get("/f/sub/"))), "<p>index</p>");
  testing::RawClient one = client();
  one.send(get("/f/large.bin") + "HEAD /f/large.bin HTTP/1.1\r\nHost: t\r\n\r\n" + get("/status"));
  EXPECT_TRUE(body_of(one.response()) == large_);
  EXPECT_EQ(field_of(one.response(true), "Content-Length"), std::to_string(large_.size()));
  EXPECT_EQ(body_of(one.response()), "hello world");
}

TEST_P(FilesTest, AreFoundBelowTheRootAndNowhereElse) {
  start();
  for (const auto* path :
       {"/f/../outside.txt", "/f/%2e%2e/outside.txt", "/f/..%2foutside.txt", "/f/sub%2findex.html",
        "/f/..%5coutside.txt", "/f/%252e%252e/outside.txt", "/f/%c0%ae%c0%ae/outside.txt",
        "/f/sub/../../outside.txt", "/f//etc/passwd", "/f/link_out", "/f/link_abs", "/f/fifo",
        "/f/sub", "/f/", "/f/.hidden", "/f/sub/.", "/f/ten.txt/", "/f/nothing", "/f/%5c"}) {
    EXPECT_EQ(status_of(ask(get(path))), 404) << path;
  }
  EXPECT_EQ(status_of(ask(get("/f/ten%00.txt"))), 400);
  const auto devices = StaticFiles::open("/dev");
  Request request;
  EXPECT_EQ(devices->serve(request, "null").status(), Status::not_found);
  EXPECT_FALSE(StaticFiles::open("/nowhere").has_value());
}

TEST_P(FilesTest, AreSentInRanges) {
  start();
  const std::string part = ask_with("/f/ten.txt", "Range: bytes=2-4\r\n");
  EXPECT_EQ(status_of(part), 206);
  EXPECT_EQ(body_of(part), "234");
  EXPECT_EQ(field_of(part, "Content-Range"), "bytes 2-4/10");
  const std::string several = ask_with("/f/ten.txt", "Range: bytes=0-0,-2\r\n");
  EXPECT_EQ(status_of(several), 206);
  const std::string boundary = field_of(several, "Content-Type")
                                   .substr(std::string("multipart/byteranges; boundary=").size());
  const std::string type = "Content-Type: text/plain; charset=utf-8\r\n";
  EXPECT_EQ(body_of(several), "\r\n--" + boundary + "\r\n" + type +
                                  "Content-Range: bytes 0-0/10\r\n\r\n0\r\n--" + boundary + "\r\n" +
                                  type + "Content-Range: bytes 8-9/10\r\n\r\n89\r\n--" + boundary +
                                  "--\r\n");
  const std::string beyond = ask_with("/f/ten.txt", "Range: bytes=10-\r\n");
  EXPECT_EQ(status_of(beyond), 416);
  EXPECT_EQ(field_of(beyond, "Content-Range"), "bytes */10");
  EXPECT_EQ(status_of(ask_with("/f/ten.txt", "Range: bytes=0-,0-,0-,0-\r\n")), 200);
}

TEST_P(FilesTest, AreSentOnConditions) {
  start();
  const std::string first = ask(get("/f/ten.txt"));
  const std::string tag = field_of(first, "ETag");
  const std::string modified = field_of(first, "Last-Modified");
  const std::string past = "Sun, 06 Nov 1994 08:49:37 GMT";
  struct Case {
    std::string fields;
    int status;
  };
  for (const Case& each : {
           Case{"If-None-Match: " + tag + "\r\n", 304},
           Case{"If-None-Match: \"x\", W/" + tag + "\r\n", 304},
           Case{"If-None-Match: *\r\n", 304},
           Case{"If-None-Match: \"x,y\"\r\n", 200},
           Case{"If-Modified-Since: " + modified + "\r\n", 304},
           Case{"If-Modified-Since: " + past + "\r\n", 200},
           Case{"If-Modified-Since: nonsense\r\n", 200},
           Case{"If-None-Match: \"x\"\r\nIf-Modified-Since: " + modified + "\r\n", 200},
           Case{"If-Match: " + tag + "\r\n", 200},
           Case{"If-Match: \"x\"\r\n", 412},
           Case{"If-Match: W/" + tag + "\r\n", 412},
           Case{"If-Unmodified-Since: " + past + "\r\n", 412},
           Case{"If-Unmodified-Since: " + modified + "\r\n", 200},
           Case{"Range: bytes=0-0\r\nIf-Range: " + tag + "\r\n", 206},
           Case{"Range: bytes=0-0\r\nIf-Range: W/" + tag + "\r\n", 200},
           Case{"Range: bytes=0-0\r\nIf-Range: \"x\"\r\n", 200},
           Case{"Range: bytes=0-0\r\nIf-Range: " + modified + "\r\n", 206},
           Case{"Range: bytes=0-0\r\nIf-Range: " + past + "\r\n", 200},
       }) {
    const std::string answer = ask_with("/f/ten.txt", each.fields);
    EXPECT_EQ(status_of(answer), each.status) << each.fields;
    if (each.status == 304) {
      EXPECT_EQ(body_of(answer), "");
    }
  }
}

TEST_P(FilesTest, EndTheConnectionWhenAFileBecomesShorterWhileItIsSent) {
  const std::string path = (root_ / "shrinking.bin").string();
  write(path, std::string(1000, 'x'));
  server_.get("/shrinks", [path](Request&) {
    auto body = std::make_shared<FileBody>(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    body->add_range(0, 1000);
    EXPECT_EQ(::truncate(path.c_str(), 10), 0);
    Response response;
    response.set_file(std::move(body));
    return response;
  });
  start();
  testing::RawClient one = client();
  one.send(get("/shrinks"));
  EXPECT_LT(one.read_to_end().size(), 1000U);
  EXPECT_EQ(body_of(ask(get("/status"))), "hello world");
}

SENNIT_FOR_EACH_BACKEND(FilesTest);

}  // namespace
}  // namespace sennit::http
