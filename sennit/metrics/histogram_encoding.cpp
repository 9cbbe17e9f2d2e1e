#include "sennit/metrics/histogram_encoding.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <zlib.h>

#include "sennit/base/assert.hpp"

namespace sennit::metrics {
namespace {

constexpr std::uint32_t plain_cookie = 0x1c849313;       // V2; 0x10 says LEB128.
constexpr std::uint32_t compressed_cookie = 0x1c849314;  // The same, compressed.
constexpr std::uint32_t cookie_family = 0x1c849300;      // Of all versions.
constexpr std::size_t header_bytes = 40;
constexpr std::size_t compressed_header_bytes = 8;
constexpr std::size_t number_bytes_max = 9;

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& out) : out_(out) {}

  template <class Unsigned>
  void big_endian(Unsigned value) {
    for (int shift = 8 * (static_cast<int>(sizeof value) - 1); shift >= 0; shift -= 8) {
      out_.push_back(static_cast<std::byte>(value >> shift));
    }
  }

  void number(std::int64_t value) {
    auto bits = static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
    for (std::size_t i = 0; i + 1 < number_bytes_max && bits >= 0x80; ++i, bits >>= 7) {
      out_.push_back(static_cast<std::byte>(bits | 0x80));
    }
    out_.push_back(static_cast<std::byte>(bits));
  }

 private:
  std::vector<std::byte>& out_;
};

class Reader {
 public:
  explicit Reader(ByteView bytes) : rest_(bytes) {}

  [[nodiscard]] ByteView rest() const { return rest_; }

  /// Requires that enough is left.
  template <class Unsigned>
  Unsigned big_endian() {
    Unsigned value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) {
      value = static_cast<Unsigned>(value << 8 | std::to_integer<Unsigned>(rest_[i]));
    }
    rest_ = rest_.subspan(sizeof value);
    return value;
  }

  std::optional<std::int64_t> number() {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < number_bytes_max; ++i) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = std::to_integer<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      const bool last = i + 1 == number_bytes_max || byte < 0x80;
      bits |= (i + 1 == number_bytes_max ? byte : byte & 0x7f) << 7 * i;
      if (last) break;
    }
    return static_cast<std::int64_t>(bits >> 1 ^ -(bits & 1));
  }

 private:
  ByteView rest_;
};

Result<std::vector<std::byte>> inflate_all(ByteView bytes, std::size_t bytes_max) {
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) return failure(Errc::out_of_memory, "decode a histogram");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::vector<std::byte> out;
  std::array<std::byte, 16 * 1024> chunk;
  int status = Z_OK;
  while (status == Z_OK && out.size() <= bytes_max) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = chunk.size();
    status = ::inflate(&stream, Z_NO_FLUSH);  // Z_BUF_ERROR when the stream is cut off.
    const std::span given(chunk.data(), chunk.size() - stream.avail_out);
    out.insert(out.end(), given.begin(), given.end());
  }
  const bool whole = status == Z_STREAM_END && stream.avail_in == 0;
  ::inflateEnd(&stream);
  if (status == Z_OK || (whole && out.size() > bytes_max)) {  // Could only hold more counts.
    return failure(Errc::limit_reached, "decode a histogram: it has too many buckets");
  }
  if (!whole) return failure(Errc::malformed, "decode a histogram: its zlib stream");
  return out;
}

Result<> read_counts(Reader& reader, Histogram& histogram) {
  const std::size_t bucket_count = histogram.layout().bucket_count();
  std::size_t index = 0;
  while (!reader.rest().empty()) {
    const std::optional<std::int64_t> number = reader.number();
    if (!number) return failure(Errc::malformed, "decode a histogram: a count is cut off");
    const std::uint64_t skipped = *number < 0 ? -static_cast<std::uint64_t>(*number) : 1;
    if (skipped > bucket_count - index) {
      return failure(Errc::malformed, "decode a histogram: more counts than its options have");
    }
    if (*number > 0) {
      if (histogram.count() > UINT64_MAX - static_cast<std::uint64_t>(*number)) {
        return failure(Errc::malformed, "decode a histogram: its counts exceed 64 bits");
      }
      histogram.add_at(index, static_cast<std::uint64_t>(*number));
    }
    index += skipped;
  }
  return {};
}

Result<Histogram> decode_plain(ByteView bytes, std::size_t bucket_count_max) {
  if (bytes.size() < header_bytes) {
    return failure(Errc::malformed, "decode a histogram: its header is cut off");
  }
  Reader reader(bytes);
  if (reader.big_endian<std::uint32_t>() != plain_cookie) {
    return failure(Errc::unsupported, "decode a histogram: not of version 2");
  }
  const auto payload_bytes = reader.big_endian<std::uint32_t>();
  const auto index_offset = reader.big_endian<std::uint32_t>();
  const auto digits = reader.big_endian<std::uint32_t>();
  const auto lowest = static_cast<std::int64_t>(reader.big_endian<std::uint64_t>());
  const auto highest = static_cast<std::int64_t>(reader.big_endian<std::uint64_t>());
  reader.big_endian<std::uint64_t>();  // The ratio to floating-point values, which we have none of.
  if (index_offset != 0) {
    return failure(Errc::unsupported, "decode a histogram: its counts are shifted");
  }
  const HistogramOptions options{.lowest = lowest,
                                 .highest = highest,
                                 .significant_digits = digits > 5 ? 0 : static_cast<int>(digits)};
  if (!HistogramLayout::supports(options)) {
    return failure(Errc::malformed, "decode a histogram: its options are out of range");
  }
  if (HistogramLayout(options).bucket_count() > bucket_count_max) {
    return failure(Errc::limit_reached, "decode a histogram: it has too many buckets");
  }
  if (reader.rest().size() != payload_bytes) {
    return failure(Errc::malformed, "decode a histogram: its length is not the one it states");
  }
  Result<Histogram> histogram(options);
  if (auto read = read_counts(reader, *histogram); !read) return failure(std::move(read).error());
  return histogram;
}

}  // namespace

std::vector<std::byte> encode(const Histogram& histogram) {
  std::vector<std::byte> payload;
  Writer counts(payload);
  std::int64_t zeroes = 0;  // Those after the last count are not written.
  for (std::size_t i = 0; i < histogram.layout().bucket_count(); ++i) {
    const std::uint64_t count = histogram.count_at(i);
    if (count == 0) {
      ++zeroes;
      continue;
    }
    SENNIT_ASSERT(count <= INT64_MAX, count);
    if (zeroes > 0) counts.number(zeroes == 1 ? 0 : -zeroes);
    zeroes = 0;
    counts.number(static_cast<std::int64_t>(count));
  }
  const HistogramOptions& options = histogram.options();
  std::vector<std::byte> bytes;
  bytes.reserve(header_bytes + payload.size());
  Writer header(bytes);
  header.big_endian(plain_cookie);
  header.big_endian(static_cast<std::uint32_t>(payload.size()));
  header.big_endian(std::uint32_t{0});
  header.big_endian(static_cast<std::uint32_t>(options.significant_digits));
  header.big_endian(static_cast<std::uint64_t>(options.lowest));
  header.big_endian(static_cast<std::uint64_t>(options.highest));
  header.big_endian(std::bit_cast<std::uint64_t>(1.0));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

std::vector<std::byte> encode_compressed(const Histogram& histogram) {
  const std::vector<std::byte> plain = encode(histogram);
  uLongf size = ::compressBound(plain.size());
  std::vector<std::byte> stream(size);
  const int status = ::compress(reinterpret_cast<Bytef*>(stream.data()), &size,
                                reinterpret_cast<const Bytef*>(plain.data()), plain.size());
  SENNIT_ASSERT(status == Z_OK, status);  // compressBound() leaves it nothing but memory to lack.
  std::vector<std::byte> bytes;
  bytes.reserve(compressed_header_bytes + size);
  Writer header(bytes);
  header.big_endian(compressed_cookie);
  header.big_endian(static_cast<std::uint32_t>(size));
  bytes.insert(bytes.end(), stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
  return bytes;
}

Result<Histogram> decode(ByteView bytes, std::size_t bucket_count_max) {
  if (bytes.size() < compressed_header_bytes) {
    return failure(Errc::malformed, "decode a histogram: its header is cut off");
  }
  Reader reader(bytes);
  const auto cookie = reader.big_endian<std::uint32_t>();
  if ((cookie & 0xffffff00) != cookie_family) {
    return failure(Errc::malformed, "decode a histogram: it begins with no cookie");
  }
  if (cookie != compressed_cookie) return decode_plain(bytes, bucket_count_max);
  if (reader.big_endian<std::uint32_t>() != reader.rest().size()) {
    return failure(Errc::malformed, "decode a histogram: its length is not the one it states");
  }
  SENNIT_TRY(const std::vector<std::byte> plain,
             inflate_all(reader.rest(), header_bytes + number_bytes_max * bucket_count_max));
  return decode_plain(plain, bucket_count_max);
}

}  // namespace sennit::metrics
