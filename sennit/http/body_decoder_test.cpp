#include "sennit/http/body_decoder.hpp"

#include <gtest/gtest.h>
#include <string>
#include <zlib.h>
#include <zstd.h>

#include "sennit/base/random.hpp"

namespace sennit::http {
namespace {

class BodyDecoderTest : public ::testing::TestWithParam<ContentCoding> {
 protected:
  static std::string encode(ContentCoding coding, const std::string& text) {
    std::string out(::compressBound(text.size()) + ZSTD_compressBound(text.size()) + 64, '\0');
    if (coding == ContentCoding::zstd) {
      out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
      return out;
    }
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    ::deflateEnd(&stream);
    return out;
  }
  /// The text, or the code of the error. Input comes in pieces, output goes to a room of its own.
  static std::string decode(ContentCoding coding, std::string_view bytes, std::size_t piece = 7,
                            std::size_t room_bytes = 11, const DecodeLimits& limits = {}) {
    BodyDecoder decoder(coding, limits);
    std::string text, room(room_bytes, '\0');
    while (!bytes.empty()) {
      std::string_view input = bytes.substr(0, piece);
      bytes.remove_prefix(input.size());
      for (;;) {
        const auto written = decoder.decode(input, room);
        if (!written) return "!" + std::string(to_string(written.error().code()));
        text.append(room, 0, *written);
        if (input.empty() && *written < room.size()) break;
      }
    }
    const auto finished = decoder.finish();
    return finished ? text : "!" + std::string(to_string(finished.error().code()));
  }
  static std::string sample() {
    std::string text;
    Random random(4);
    for (int i = 0; i < 20'000; ++i) text += static_cast<char>('a' + random.below(7));
    return text;
  }
};

TEST_P(BodyDecoderTest, GivesBackWhatWasEncodedHoweverItIsSplit) {
  const std::string text = sample();
  const std::string bytes = encode(GetParam(), text);
  EXPECT_LT(bytes.size(), text.size());
  for (const std::size_t piece : {1, 7, 1000, 1'000'000}) {
    for (const std::size_t room : {1, 100, 1'000'000}) {
      EXPECT_TRUE(decode(GetParam(), bytes, piece, room) == text) << piece << " " << room;
    }
  }
  EXPECT_EQ(decode(GetParam(), encode(GetParam(), "")), "");
  EXPECT_EQ(decode(GetParam(), ""), "");
}

TEST_P(BodyDecoderTest, ReadsSeveralStreamsAfterEachOther) {
  EXPECT_EQ(decode(GetParam(), encode(GetParam(), "one ") + encode(GetParam(), "two")), "one two");
}

TEST_P(BodyDecoderTest, NoticesEveryCutAndWhatFollows) {
  const std::string bytes = encode(GetParam(), "some text that is long enough to be cut");
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    EXPECT_EQ(decode(GetParam(), bytes.substr(0, length)), "!malformed") << length;
  }
  EXPECT_EQ(decode(GetParam(), bytes + "and more"), "!malformed");
}

TEST_P(BodyDecoderTest, EndsOnAnyDamage) {
  const std::string bytes = encode(GetParam(), sample());
  Random random(9);
  for (int i = 0; i < 500; ++i) {
    std::string damaged = bytes;
    damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    const std::string text = decode(GetParam(), damaged, 1000, 1000);
    EXPECT_LE(text.size(), std::size_t{4} * 1024 * 1024);
  }
}

TEST_P(BodyDecoderTest, StopsABombByItsRatio) {
  const std::string bomb = encode(GetParam(), std::string(20'000'000, '\0'));
  EXPECT_EQ(decode(GetParam(), bomb, 1000, 10'000), "!limit reached");
  const DecodeLimits generous{.ratio_max = 1e9};
  EXPECT_EQ(decode(GetParam(), bomb, 1000, 10'000, generous).size(), 20'000'000U);
}

INSTANTIATE_TEST_SUITE_P(Codings, BodyDecoderTest,
                         ::testing::Values(ContentCoding::gzip, ContentCoding::zstd),
                         [](const auto& each) {
                           return each.param == ContentCoding::gzip ? "gzip" : "zstd";
                         });

TEST(BodyDecoder, PassesIdentityAndKnowsItsNames) {
  BodyDecoder decoder(ContentCoding::identity, {});
  std::string room(3, '\0');
  std::string_view input = "abcde";
  EXPECT_EQ(decoder.decode(input, room), 3U);
  EXPECT_EQ(room, "abc");
  EXPECT_EQ(input, "de");
  EXPECT_EQ(content_coding_from_name("GZip"), ContentCoding::gzip);
  EXPECT_EQ(content_coding_from_name("x-gzip"), ContentCoding::gzip);
  EXPECT_EQ(content_coding_from_name("zstd"), ContentCoding::zstd);
  EXPECT_EQ(content_coding_from_name(""), ContentCoding::identity);
  EXPECT_EQ(content_coding_from_name("br"), std::nullopt);
  EXPECT_EQ(content_coding_from_name("gzip, gzip"), std::nullopt);
}

}  // namespace
}  // namespace sennit::http
