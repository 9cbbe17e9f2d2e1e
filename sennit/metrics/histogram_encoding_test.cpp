#include "sennit/metrics/histogram_encoding.hpp"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/metrics/detail/base64.hpp"

namespace sennit::metrics {
namespace {

std::vector<std::byte> from_hex(std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

void expect_same_counts(const Histogram& left, const Histogram& right) {
  ASSERT_EQ(left.options(), right.options());
  for (std::size_t i = 0; i < left.layout().bucket_count(); ++i) {
    ASSERT_EQ(left.count_at(i), right.count_at(i)) << "bucket " << i;
  }
}

// Written for the same records by the Python library hdrhistogram 0.10.8 and by HdrHistogram 2.1.11
// for Java, in this order.
struct Foreign {
  HistogramOptions options;
  std::vector<std::pair<std::int64_t, std::uint64_t>> records;
  std::string_view plain_hex, compressed_base64;
};
std::vector<Foreign> foreign() {
  return {
      {{.lowest = 1, .highest = 3'600'000'000, .significant_digits = 3},
       {{0, 1},
        {1, 3},
        {2, 1},
        {1000, 5},
        {2047, 1},
        {2048, 2},
        {123'456, 1000},
        {3'600'000'000, 1}},
       "1c849313000000120000000000000003000000000000000100000000d693a4003ff0000000000000"
       "020602c90f0aab1002048f5ed00fd3ec0102",
       "HISTFAAAADN4nJNpmSzMwMAgxAABzFCaEURcm7yEwf4DRICJjekkP9dqASaW/rgL/JffMDIBAM7oCdQ="},
      {{.lowest = 1000, .highest = 1'000'000'000, .significant_digits = 2},
       {{0, 1}, {500, 1}, {1500, 2}, {999'999'999, 70'000}},
       "1c84931300000008000000000000000200000000000003e8000000003b9aca003ff0000000000000"
       "040004d51de0c508",
       "HISTFAAAACl4nJNpmSzMwMDAwQABTBCK+QWItJ51isH+A0SEhYHlquyDoxwAjTIHsQ=="},
  };
}

TEST(HistogramEncoding, WritesWhatOtherLibrariesWrite) {
  for (const Foreign& from : foreign()) {
    Histogram histogram(from.options);
    for (const auto& [value, times] : from.records) histogram.record_n(value, times);
    EXPECT_EQ(encode(histogram), from_hex(from.plain_hex));
  }
}

TEST(HistogramEncoding, ReadsWhatOtherLibrariesWrite) {
  for (const Foreign& from : foreign()) {
    Histogram expected(from.options);
    for (const auto& [value, times] : from.records) expected.record_n(value, times);
    const auto bytes = detail::base64_decode(from.compressed_base64);
    ASSERT_TRUE(bytes.has_value());
    const Result<Histogram> decoded = decode(*bytes);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().to_string();
    expect_same_counts(*decoded, expected);
    EXPECT_EQ(decoded->count(), expected.count());
    const HistogramLayout& layout = expected.layout();
    EXPECT_EQ(layout.index_of(decoded->percentile(99)), layout.index_of(expected.percentile(99)));
  }
}

TEST(HistogramEncoding, ReturnsEveryCountOfAnyHistogram) {
  Random random(1);
  for (const int digits : {1, 2, 3, 4}) {
    Histogram histogram({.highest = INT64_MAX, .significant_digits = digits});
    for (int i = 0; i < 2000; ++i) {
      const auto value = static_cast<std::int64_t>(random.next() >> (1 + random.below(63)));
      histogram.record_n(value, 1 + (random.next() >> (12 + random.below(52))));
    }
    for (const auto& bytes : {encode(histogram), encode_compressed(histogram)}) {
      const Result<Histogram> decoded = decode(bytes);
      ASSERT_TRUE(decoded.has_value()) << decoded.error().to_string();
      expect_same_counts(*decoded, histogram);
    }
  }
}

TEST(HistogramEncoding, KeepsAnEmptyHistogram) {
  const Result<Histogram> decoded = decode(encode_compressed(Histogram()));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->count(), 0U);
  EXPECT_EQ(decoded->options(), HistogramOptions());
}

TEST(HistogramEncoding, NamesWhatIsWrong) {
  // cookie, length, offset, digits, lowest, highest, ratio, payload
  const std::string ratio = "3ff0000000000000";
  const std::string one = "0000000000000001", thousand = "00000000000003e8";
  struct Case {
    const char* what;
    std::string hex;
    Errc code;
  };
  for (const auto& [what, hex, code] : {
           Case{"nothing", "", Errc::malformed},
           Case{"no cookie", "0011223344556677", Errc::malformed},
           Case{"header cut off", "1c84931300000000", Errc::malformed},
           Case{"version 1", "1c849301000000000000000000000003" + one + thousand + ratio,
                Errc::unsupported},
           Case{"shifted", "1c849313000000000000000100000003" + one + thousand + ratio,
                Errc::unsupported},
           Case{"no digits", "1c849313000000000000000000000000" + one + thousand + ratio,
                Errc::malformed},
           Case{"many digits", "1c8493130000000000000000ffffffff" + one + thousand + ratio,
                Errc::malformed},
           Case{"lowest above highest", "1c849313000000000000000000000003" + thousand + one + ratio,
                Errc::malformed},
           Case{"negative highest",
                "1c849313000000000000000000000003" + one + "ffffffffffffffff" + ratio,
                Errc::malformed},
           Case{"too many buckets",
                "1c849313000000000000000000000005" + one + "7fffffffffffffff" + ratio,
                Errc::limit_reached},
           Case{"length too small",
                "1c849313000000000000000000000003" + one + thousand + ratio + "02",
                Errc::malformed},
           Case{"count cut off", "1c849313000000010000000000000003" + one + thousand + ratio + "80",
                Errc::malformed},
           Case{"zeroes beyond the end",
                "1c849313000000040000000000000003" + one + thousand + ratio + "ffffff01",
                Errc::malformed},
           Case{"the most zeroes there can be",
                "1c849313000000090000000000000003" + one + thousand + ratio + "ffffffffffffffffff",
                Errc::malformed},
           Case{"not zlib", "1c8493140000000461626364", Errc::malformed},
           Case{"compressed length", "1c8493140000000561626364", Errc::malformed},
       }) {
    SCOPED_TRACE(what);
    const Result<Histogram> decoded = decode(from_hex(hex), 1 << 19);
    ASSERT_FALSE(decoded.has_value());
    EXPECT_EQ(decoded.error().code(), code) << decoded.error().to_string();
  }
}

TEST(HistogramEncoding, RefusesCountsBeyondTheBuckets) {
  const Histogram histogram({.highest = 1000});  // 2,048 buckets, no zeroes between them.
  std::vector<std::byte> bytes = encode(histogram);
  bytes.insert(bytes.end(), 2049, std::byte{2});
  bytes[6] = std::byte{2049 >> 8};
  bytes[7] = std::byte{2049 & 0xff};
  EXPECT_EQ(decode(bytes).error().code(), Errc::malformed);
}

TEST(HistogramEncoding, SurvivesAnyDamage) {
  Random random(5);
  Histogram histogram({.highest = 1'000'000'000, .significant_digits = 2});
  for (int i = 0; i < 500; ++i) {
    histogram.record(static_cast<std::int64_t>(random.below(1'000'000)));
  }
  for (const auto& whole : {encode(histogram), encode_compressed(histogram)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(decode(ByteView(whole).first(size)).has_value());
    }
    for (int i = 0; i < 20'000; ++i) {
      std::vector<std::byte> damaged = whole;
      for (std::uint64_t hits = 1 + random.below(3); hits > 0; --hits) {
        damaged[random.below(damaged.size())] = static_cast<std::byte>(random.next());
      }
      (void)decode(damaged, 1 << 16);
    }
  }
}

// A few kilobytes of zlib can stand for gigabytes of zeroes.
TEST(HistogramEncoding, BoundsWhatItInflates) {
  const Histogram histogram({.highest = INT64_MAX, .significant_digits = 5});
  const std::vector<std::byte> bytes = encode_compressed(histogram);
  const Result<Histogram> decoded = decode(bytes, 1000);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code(), Errc::limit_reached);
}

}  // namespace
}  // namespace sennit::metrics
