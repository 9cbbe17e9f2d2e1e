#include "sennit/http/body_decoder.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>
#include <zlib.h>
#include <zstd.h>

#include "sennit/base/assert.hpp"
#include "sennit/http/detail/chars.hpp"

namespace sennit::http {
namespace {

constexpr const char* decoding = "decompress a body";

}  // namespace

std::optional<ContentCoding> content_coding_from_name(std::string_view name) {
  using detail::equals_ignoring_case;
  if (name.empty() || equals_ignoring_case(name, "identity")) return ContentCoding::identity;
  if (equals_ignoring_case(name, "gzip") || equals_ignoring_case(name, "x-gzip")) {
    return ContentCoding::gzip;
  }
  if (equals_ignoring_case(name, "zstd")) return ContentCoding::zstd;
  return std::nullopt;
}

class BodyDecoder::Codec {
 public:
  virtual ~Codec() = default;
  /// Moves both forward.
  virtual Result<void> step(std::string_view& input, std::span<char>& room) = 0;
  /// At the end of a member or frame: nothing has begun that is not over.
  [[nodiscard]] virtual bool is_whole() const = 0;
};

class BodyDecoder::Gzip final : public Codec {
 public:
  Gzip() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    is_ready_ = ::inflateInit2(&stream_, gzip_only) == Z_OK;
  }
  ~Gzip() override {
    if (is_ready_) ::inflateEnd(&stream_);
  }
  Result<void> step(std::string_view& input, std::span<char>& room) override {
    if (!is_ready_) return failure(Errc::out_of_memory, decoding);
    // Members may follow each other (RFC 1952, 2.2).
    if (is_whole_ && !input.empty()) {
      if (::inflateReset(&stream_) != Z_OK) return failure(Errc::malformed, decoding);
      is_whole_ = false;
    }
    const auto in = static_cast<uInt>(std::min<std::size_t>(input.size(), UINT_MAX));
    const auto out = static_cast<uInt>(std::min<std::size_t>(room.size(), UINT_MAX));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = in;
    stream_.next_out = reinterpret_cast<Bytef*>(room.data());
    stream_.avail_out = out;
    if (is_whole_) return {};
    const int status = ::inflate(&stream_, Z_NO_FLUSH);
    input.remove_prefix(in - stream_.avail_in);
    room = room.subspan(out - stream_.avail_out);
    if (status == Z_STREAM_END) {
      is_whole_ = true;
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      return failure(status == Z_MEM_ERROR ? Errc::out_of_memory : Errc::malformed, decoding);
    }
    return {};
  }
  [[nodiscard]] bool is_whole() const override { return is_whole_; }

 private:
  z_stream stream_{};
  bool is_ready_ = false;
  bool is_whole_ = true;  // Before the first byte and after each member.
};

class BodyDecoder::Zstd final : public Codec {
 public:
  explicit Zstd(std::size_t window_bytes_max) : context_(::ZSTD_createDCtx()) {
    const int log_max = std::clamp(static_cast<int>(std::bit_width(window_bytes_max)) - 1, 10, 27);
    if (context_ != nullptr) {
      ::ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, log_max);
    }
  }
  ~Zstd() override { ::ZSTD_freeDCtx(context_); }
  Result<void> step(std::string_view& input, std::span<char>& room) override {
    if (context_ == nullptr) return failure(Errc::out_of_memory, decoding);
    if (is_whole_ && input.empty()) return {};
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{room.data(), room.size(), 0};
    const std::size_t hint = ::ZSTD_decompressStream(context_, &out, &in);
    if (::ZSTD_isError(hint) != 0U) return failure(Errc::malformed, decoding);
    input.remove_prefix(in.pos);
    room = room.subspan(out.pos);
    is_whole_ = hint == 0;
    return {};
  }
  [[nodiscard]] bool is_whole() const override { return is_whole_; }

 private:
  ZSTD_DCtx* context_;
  bool is_whole_ = true;
};

BodyDecoder::BodyDecoder(ContentCoding coding, const DecodeLimits& limits) : limits_(limits) {
  if (coding == ContentCoding::gzip) codec_ = std::make_unique<Gzip>();
  if (coding == ContentCoding::zstd) codec_ = std::make_unique<Zstd>(limits.window_bytes_max);
}
BodyDecoder::~BodyDecoder() = default;
BodyDecoder::BodyDecoder(BodyDecoder&& other) noexcept = default;
BodyDecoder& BodyDecoder::operator=(BodyDecoder&& other) noexcept = default;

Result<std::size_t> BodyDecoder::decode(std::string_view& input, std::span<char> room) {
  SENNIT_ASSERT(!room.empty());
  const std::size_t had = input.size();
  std::span<char> left = room;
  if (codec_ == nullptr) {
    const std::size_t bytes = std::min(room.size(), input.size());
    if (bytes > 0) std::memcpy(room.data(), input.data(), bytes);
    input.remove_prefix(bytes);
    left = room.subspan(bytes);
  } else {
    for (;;) {
      const std::size_t input_before = input.size(), left_before = left.size();
      if (auto stepped = codec_->step(input, left); !stepped) {
        return failure(std::move(stepped).error());
      }
      const bool moved = input.size() != input_before || left.size() != left_before;
      if (left.empty() || input.empty() || !moved) break;
    }
  }
  bytes_in_ += had - input.size();
  bytes_out_ += room.size() - left.size();
  if (codec_ != nullptr && bytes_out_ > limits_.ratio_free_bytes &&
      static_cast<double>(bytes_out_) > limits_.ratio_max * static_cast<double>(bytes_in_)) {
    return failure(Errc::limit_reached, decoding);
  }
  return room.size() - left.size();
}

Result<void> BodyDecoder::finish() const {
  if (codec_ == nullptr || codec_->is_whole()) return {};
  return failure(Errc::malformed, std::string(decoding) + " (it ends in the middle)");
}

}  // namespace sennit::http
