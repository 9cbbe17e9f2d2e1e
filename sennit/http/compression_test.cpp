#include "sennit/http/compression.hpp"

#include <gtest/gtest.h>
#include <string>
#include <zlib.h>
#include <zstd.h>

#include "sennit/http/response_stream.hpp"
#include "sennit/http/testing/server_test_fixture.hpp"

namespace sennit::http {
namespace {

using testing::body_of;
using testing::RawClient;
using testing::status_of;

class CompressionTest : public testing::ServerTest {
 protected:
  static std::string decoded(Coding coding, std::string_view coded) {
    std::string out(4'000'000, 0);
    if (coding == Coding::zstd) {
      ZSTD_DCtx* const context = ::ZSTD_createDCtx();
      ZSTD_inBuffer in{coded.data(), coded.size(), 0};
      ZSTD_outBuffer room{out.data(), out.size(), 0};
      const std::size_t left = ::ZSTD_decompressStream(context, &room, &in);
      ::ZSTD_freeDCtx(context);
      EXPECT_EQ(left, 0U) << "the frame is not whole";
      EXPECT_EQ(in.pos, coded.size());
      out.resize(room.pos);
      return out;
    }
    z_stream stream{};
    EXPECT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
    stream.avail_in = static_cast<uInt>(coded.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    ::inflateEnd(&stream);
    return out;
  }
  static std::string request(const std::string& path, const std::string& accepts) {
    return "GET " + path +
           " HTTP/1.1\r\nHost: t\r\nConnection: close\r\nAccept-Encoding: " + accepts + "\r\n\r\n";
  }
  [[nodiscard]] std::string all(const std::string& path, const std::string& accepts) const {
    RawClient one = client();
    one.send(request(path, accepts));
    return one.read_to_end();
  }
  static std::string joined(std::string_view chunks) {
    h1::ChunkedDecoder decoder;
    std::string body;
    for (;;) {
      const auto step = decoder.next(chunks);
      chunks.remove_prefix(step.consumed);
      body += step.data;
      if (step.status == h1::ParseStatus::complete) return body;
      if (step.status == h1::ParseStatus::error || chunks.empty()) return "not ended";
    }
  }
};

TEST_P(CompressionTest, CodesWholeBodiesAndStreamsAsTheClientLikes) {
  server_.use(compression());
  static const std::string text_body(100'000, 't');
  server_.get("/whole", [](Request&) {
    Response response = text(text_body);
    EXPECT_TRUE(response.headers().set("ETag", "\"tag\"").has_value());
    return response;
  });
  server_.get("/stream", [](Request&) {
    return stream("text/plain", [](BodyWriter& out) -> Task<> {
      for (int i = 0; i < 100; ++i) {
        const std::string_view piece = std::string_view(text_body).substr(0, 1000);
        if (!co_await out.write(piece)) co_return;
      }
    });
  });
  start();
  for (const auto& [coding, name] :
       {std::pair{Coding::gzip, "gzip"}, std::pair{Coding::zstd, "zstd"}}) {
    SCOPED_TRACE(name);
    const std::string whole = all("/whole", name);
    EXPECT_NE(whole.find("\r\nContent-Encoding: " + std::string(name) + "\r\n"), std::string::npos);
    EXPECT_NE(whole.find("\r\nVary: Accept-Encoding\r\n"), std::string::npos);
    EXPECT_NE(whole.find("\r\nETag: W/\"tag\"\r\n"), std::string::npos);
    EXPECT_LT(body_of(whole).size(), 1000U);
    EXPECT_TRUE(decoded(coding, body_of(whole)) == text_body);
    EXPECT_TRUE(decoded(coding, joined(body_of(all("/stream", name)))) == text_body);
  }
  EXPECT_TRUE(body_of(all("/whole", "identity")) == text_body);
  EXPECT_EQ(status_of(all("/whole", "identity;q=0, gzip;q=0, zstd;q=0")), 406);
}

TEST_P(CompressionTest, LeavesAloneWhatWouldGainNothing) {
  server_.use(compression());
  server_.get("/image",
              [](Request&) { return Response(Status::ok, "image/png", std::string(10'000, 'x')); });
  server_.get("/coded", [](Request&) {
    Response response = text(std::string(10'000, 'x'));
    EXPECT_TRUE(response.headers().set("Content-Encoding", "br").has_value());
    return response;
  });
  server_.get("/as-it-is", [](Request&) {
    Response response = text(std::string(10'000, 'x'));
    EXPECT_TRUE(response.headers().set("Cache-Control", "no-transform").has_value());
    return response;
  });
  server_.get("/nothing", [](Request&) { return empty(Status::no_content); });
  start();
  for (const auto* path : {"/status", "/image", "/coded", "/as-it-is", "/nothing"}) {
    EXPECT_EQ(all(path, "gzip").find("Encoding: gzip"), std::string::npos) << path;
  }
}

// Output that ends exactly with the encoder's room has an end all the same.
TEST(BodyEncoder, EndsRightWhateverTheSizes) {
  Random random(1);
  for (std::size_t bytes = 16'300; bytes < 16'500; ++bytes) {
    std::string noise(bytes, 0);
    for (char& c : noise) c = static_cast<char>(random.next());
    for (const Coding coding : {Coding::gzip, Coding::zstd}) {
      const auto encoder = make_encoder(coding);
      ASSERT_NE(encoder, nullptr);
      std::string coded;
      encoder->encode(noise, false, true, coded);
      encoder->encode({}, true, false, coded);
      struct Decoder : CompressionTest {
        using CompressionTest::decoded;
      };
      ASSERT_TRUE(Decoder::decoded(coding, coded) == noise) << bytes;
    }
    if (bytes == 16'310) bytes = 16'370;
    if (bytes == 16'390) break;
  }
}

SENNIT_FOR_EACH_BACKEND(CompressionTest);

}  // namespace
}  // namespace sennit::http
