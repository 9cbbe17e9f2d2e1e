#include "sennit/http/multipart.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using testing::body_of;
using testing::status_of;

// What a decoder says of a body that comes in pieces of so many bytes.
std::string decoded_parts(std::string_view body, std::size_t piece_bytes,
                          const MultipartLimits& limits = {}) {
  MultipartDecoder decoder("XX", limits);
  std::string said;
  for (;;) {
    switch (decoder.next()) {
      case MultipartDecoder::Event::need_more:
        if (body.empty()) return said + "?";
        decoder.feed(body.substr(0, piece_bytes));
        body.remove_prefix(std::min(piece_bytes, body.size()));
        break;
      case MultipartDecoder::Event::part:
        said += "<" + decoder.part().name + "," + decoder.part().filename.value_or("-") + "," +
                decoder.part().content_type + ">";
        break;
      case MultipartDecoder::Event::data:
        said += decoder.data();
        break;
      case MultipartDecoder::Event::part_end:
        said += "|";
        break;
      case MultipartDecoder::Event::end:
        return said + "end";
      case MultipartDecoder::Event::error:
        return said + "!";
    }
  }
}

std::string form_part(const std::string& parameters, const std::string& data) {
  return "--XX\r\nContent-Disposition: form-data; " + parameters + "\r\n\r\n" + data + "\r\n";
}

TEST(MultipartDecoder, SaysTheSameHoweverTheBytesAreSplit) {
  struct Case {
    std::string body, want;
  };
  const std::string end = "--XX--\r\n";
  for (const Case& each : {
           Case{form_part("name=a", "1") + end, "<a,-,>1|end"},
           Case{form_part("name=\"a b\"; filename=\"x\\\"y.txt\"", "1\r\n--X\r\n2") + end,
                "<a b,x\"y.txt,>1\r\n--X\r\n2|end"},
           Case{form_part("name=a", "") + form_part("name=b", "\r\n") + end,
                "<a,-,>|<b,-,>\r\n|end"},
           Case{"--XX\r\ncontent-type: text/plain\r\nContent-Disposition: form-data; name=a\r\n\r\n"
                "x\r\n--XX--",
                "<a,-,text/plain>x|end"},
           Case{"--XX--", "end"},
           Case{"", "?"},
           Case{"--XX\r\n", "?"},
           Case{form_part("name=a", "cut"), "<a,-,>cut?"},
           Case{"junk" + end, "!"},
           Case{"--XX\r\n\r\nx\r\n" + end, "!"},
           Case{"--XXjunk\r\n", "!"},
           Case{"--XX\r\nno colon\r\n\r\n", "!"},
           Case{"--XX\r\nContent-Disposition: form-data\r\n\r\n", "!"},
           Case{"--XX\r\nContent-Disposition: attachment; name=a\r\n\r\n", "!"},
           Case{form_part("name=a; name=b", "x") + end, "!"},
           Case{form_part("name=\"a", "x") + end, "!"},
       }) {
    for (const std::size_t piece : {1, 2, 3, 5, 7, 1000}) {
      std::string got = decoded_parts(each.body, piece);
      // Where bytes end within a possible boundary, what is held back of the data is unspecified.
      if (each.want.ends_with("cut?")) got = got.substr(0, 6) + "cut?";
      EXPECT_EQ(got, each.want) << each.body << " by " << piece;
    }
  }
}

TEST(MultipartDecoder, BoundsPartsAndTheirHeads) {
  std::string many;
  for (int i = 0; i < 4; ++i) many += form_part("name=a", "");
  EXPECT_EQ(decoded_parts(many + "--XX--", 100, {.parts_max = 3}), "<a,-,>|<a,-,>|<a,-,>|!");
  EXPECT_EQ(decoded_parts(form_part("name=" + std::string(9000, 'x'), ""), 100), "!");
}

TEST(MultipartBoundary, IsTakenFromTheContentTypeIfItIsUsable) {
  EXPECT_EQ(multipart_boundary("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(multipart_boundary("Multipart/Form-Data;charset=x; Boundary=\"a b\""), "a b");
  for (const std::string& wrong : std::vector<std::string>{
           "", "text/plain; boundary=x", "multipart/form-data", "multipart/form-data; boundary=",
           "multipart/form-data; boundary=a; boundary=b", "multipart/form-data; boundary=\"a",
           "multipart/form-data; boundary=\"a \"", "multipart/form-data; boundary=a\x01",
           "multipart/form-data; boundary=" + std::string(71, 'a')}) {
    EXPECT_EQ(multipart_boundary(wrong), std::nullopt) << wrong;
  }
}

TEST(MultipartPart, NamesAFileOnlySafely) {
  const auto safe = [](const std::string& filename) {
    MultipartPart part;
    part.filename = filename;
    return part.safe_filename().value_or("none");
  };
  EXPECT_EQ(safe("a.txt"), "a.txt");
  EXPECT_EQ(safe("../../etc/passwd"), "passwd");
  EXPECT_EQ(safe("C:\\x\\y.txt"), "y.txt");
  for (const std::string& wrong :
       {std::string("a/.."), std::string("."), std::string("x/"), std::string("a\0b", 3),
        std::string("a\nb"), std::string(256, 'x')}) {
    EXPECT_EQ(safe(wrong), "none") << wrong;
  }
}

class MultipartUploadTest : public testing::ServerTest {};

TEST_P(MultipartUploadTest, IsReadAsItArrives) {
  server_.post("/upload", [](Request& request, BodyReader& body) -> Task<Result<Response>> {
    auto upload = MultipartReader::open(request, body);
    if (!upload) co_return failure(upload.error());
    std::string said;
    for (;;) {
      const auto part = co_await upload->next();
      if (!part) co_return failure(part.error());
      if (!part->has_value()) co_return text(said);
      std::size_t bytes = 0;
      while ((*part)->name != "skipped") {
        const auto piece = co_await upload->read();
        if (!piece) co_return failure(piece.error());
        if (piece->empty()) break;
        bytes += piece->size();
      }
      said += (*part)->name + ":" + std::to_string(bytes) + " ";
    }
  });
  start();
  const auto send = [&](const std::string& type, const std::string& body) {
    return ask("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Type: " + type +
               "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  };
  const std::string type = "multipart/form-data; boundary=XX";
  const std::string body = form_part("name=a; filename=x", std::string(2'000'000, 'x')) +
                           form_part("name=skipped", std::string(100'000, 'y')) +
                           form_part("name=b", "12") + "--XX--\r\n";
  EXPECT_EQ(body_of(send(type, body)), "a:2000000 skipped:0 b:2 ");
  EXPECT_EQ(status_of(send(type, body.substr(0, 1000))), 400);
  EXPECT_EQ(status_of(send("text/plain", "x")), 400);
}

SENNIT_FOR_EACH_BACKEND(MultipartUploadTest);

}  // namespace
}  // namespace sennit::http
