#include "sennit/http/compression.hpp"

#include <array>
#include <string>
#include <string_view>
#include <zlib.h>
#include <zstd.h>

#include "sennit/http/detail/chars.hpp"

namespace sennit::http {
namespace {

constexpr std::size_t room_bytes = 16 * 1024;

class GzipEncoder final : public BodyEncoder {
 public:
  explicit GzipEncoder(int level) {
    constexpr int window_bits = 15, gzip_header = 16, memory_level = 8;
    is_open_ = ::deflateInit2(&stream_, level, Z_DEFLATED, window_bits + gzip_header, memory_level,
                              Z_DEFAULT_STRATEGY) == Z_OK;
  }
  ~GzipEncoder() override {
    if (is_open_) ::deflateEnd(&stream_);
  }
  [[nodiscard]] bool is_open() const { return is_open_; }

  void encode(std::string_view bytes, bool is_last, bool flush, std::string& out) override {
    int mode = flush ? Z_SYNC_FLUSH : Z_NO_FLUSH;
    if (is_last) mode = Z_FINISH;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    // Full room may mean more to come, also when the output ends exactly there.
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(room_.data());
      stream_.avail_out = static_cast<uInt>(room_.size());
      ::deflate(&stream_, mode);
      out.append(room_.data(), room_.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
  bool is_open_ = false;
  std::array<char, room_bytes> room_;
};

class ZstdEncoder final : public BodyEncoder {
 public:
  explicit ZstdEncoder(int level) : context_(::ZSTD_createCCtx()) {
    if (context_ == nullptr) return;
    constexpr int window_log_max = 23;  // RFC 9659: 8 MiB.
    ::ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
    ::ZSTD_CCtx_setParameter(context_, ZSTD_c_windowLog, level < 17 ? 20 : window_log_max);
  }
  ~ZstdEncoder() override { ::ZSTD_freeCCtx(context_); }
  [[nodiscard]] bool is_open() const { return context_ != nullptr; }

  void encode(std::string_view bytes, bool is_last, bool flush, std::string& out) override {
    ZSTD_EndDirective mode = flush ? ZSTD_e_flush : ZSTD_e_continue;
    if (is_last) mode = ZSTD_e_end;
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (bool is_done = false; !is_done;) {
      ZSTD_outBuffer room{room_.data(), room_.size(), 0};
      const std::size_t left = ::ZSTD_compressStream2(context_, &room, &in, mode);
      out.append(room_.data(), room.pos);
      if (::ZSTD_isError(left) != 0) return;  // Cut off: the client's decoder will tell.
      is_done = mode == ZSTD_e_continue ? in.pos == in.size : left == 0;
    }
  }

 private:
  ZSTD_CCtx* context_;
  std::array<char, room_bytes> room_;
};

bool gets_smaller(std::string_view type) {
  type = type.substr(0, type.find(';'));
  constexpr std::string_view others[] = {
      "application/json", "application/javascript",   "application/xml",      "application/wasm",
      "image/svg+xml",    "application/problem+json", "application/xhtml+xml"};
  if (type.size() > 5 && detail::equals_ignoring_case(type.substr(0, 5), "text/")) return true;
  for (const std::string_view each : others) {
    if (detail::equals_ignoring_case(type, each)) return true;
  }
  return false;
}

bool may_be_coded(const Response& response, const CompressionOptions& options) {
  const Headers& headers = response.headers();
  const auto type = headers.get("Content-Type").value_or(response.content_type());
  const auto cache_control = headers.get("Cache-Control").value_or("");
  return !is_bodiless(response.status()) && response.status() != Status::partial_content &&
         response.content_length().value_or(SIZE_MAX) >= options.body_bytes_min &&
         gets_smaller(type) && !headers.contains("Content-Encoding") &&
         !headers.contains("Content-Range") &&
         cache_control.find("no-transform") == std::string_view::npos;
}

// Each was made of what a header holds.
void set_field(Response& response, std::string_view name, std::string_view value) {
  const Result<> set = response.headers().set(name, value);
  SENNIT_ASSERT(set.has_value());
}

void encode_response(Response& response, std::shared_ptr<BodyEncoder> encoder) {
  if (!response.is_whole()) return response.set_encoder(std::move(encoder));
  std::string coded;
  encoder->encode(response.body(), true, false, coded);
  response.set_body(std::move(coded));
}

Task<Response> compressed(CompressionOptions options, Request& request, Next next) {
  Response response = co_await next(request);
  if (!may_be_coded(response, options)) co_return response;
  if (response.headers().get("Vary") != "*") {
    const Result<> added = response.headers().add("Vary", "Accept-Encoding");
    SENNIT_ASSERT(added.has_value());
  }
  const auto coding = choose_coding(request.header("accept-encoding"));
  if (!coding) {
    Response refused = problem(Status::not_acceptable, "no coding is acceptable, not even none");
    set_field(refused, "Vary", "Accept-Encoding");
    co_return refused;
  }
  if (*coding == Coding::identity) co_return response;
  auto encoder = make_encoder(*coding, options);
  if (encoder == nullptr) co_return response;
  encode_response(response, std::move(encoder));
  set_field(response, "Content-Encoding", to_string(*coding));
  response.headers().remove("Accept-Ranges");
  const std::string tag(response.headers().get("ETag").value_or(""));
  if (tag.starts_with('"')) set_field(response, "ETag", "W/" + tag);
  co_return response;
}

}  // namespace

std::shared_ptr<BodyEncoder> make_encoder(Coding coding, const CompressionOptions& options) {
  SENNIT_ASSERT(coding != Coding::identity);
  if (coding == Coding::gzip) {
    auto encoder = std::make_shared<GzipEncoder>(options.gzip_level);
    return encoder->is_open() ? encoder : nullptr;
  }
  auto encoder = std::make_shared<ZstdEncoder>(options.zstd_level);
  return encoder->is_open() ? std::shared_ptr<BodyEncoder>(std::move(encoder)) : nullptr;
}

std::function<Task<Response>(Request&, Next)> compression(const CompressionOptions& options) {
  return [options](Request& request, Next next) { return compressed(options, request, next); };
}

}  // namespace sennit::http
