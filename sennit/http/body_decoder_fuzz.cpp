// No bytes make the decoder crash, hang or exceed its ratio. The first byte chooses the coding and
// how the rest is split.

#include <cstddef>
#include <cstdint>
#include <string>

#include "sennit/base/assert.hpp"
#include "sennit/http/body_decoder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sennit::http::BodyDecoder;
  using sennit::http::ContentCoding;
  using sennit::http::DecodeLimits;
  if (size == 0) return 0;
  const auto coding = static_cast<ContentCoding>(data[0] % 3);
  const std::size_t piece = 1 + data[0] / 3;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const DecodeLimits limits{.ratio_max = 50, .ratio_free_bytes = 4096, .window_bytes_max = 1 << 20};
  BodyDecoder decoder(coding, limits);
  char room[512];
  while (!bytes.empty()) {
    std::string_view input = bytes.substr(0, piece);
    bytes.remove_prefix(input.size());
    for (;;) {
      const auto written = decoder.decode(input, room);
      if (!written) return 0;
      SENNIT_ASSERT(decoder.bytes_out() <= 4096 + sizeof room + 50 * decoder.bytes_in());
      if (input.empty() && *written < sizeof room) break;
    }
  }
  [[maybe_unused]] const auto finished = decoder.finish();
  return 0;
}
