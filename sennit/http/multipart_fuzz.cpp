// Input: a boundary, a newline, then a body. Whatever the bytes and however they are split, the
// decoder says the same, ends, and lends only what was fed.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/multipart.hpp"

namespace sennit::http {
namespace {

std::string said_by_pieces(std::string_view boundary, std::string_view body, std::size_t piece) {
  MultipartDecoder decoder(boundary);
  std::string said;
  for (;;) {
    const auto event = decoder.next();
    if (event == MultipartDecoder::Event::data) {
      said += decoder.data();
      continue;
    }
    if (event == MultipartDecoder::Event::need_more) {
      if (body.empty()) return said;
      decoder.feed(body.substr(0, piece));
      body.remove_prefix(std::min(piece, body.size()));
      continue;
    }
    said += static_cast<char>(event);
    if (event == MultipartDecoder::Event::part) {
      said += decoder.part().name + "/" + decoder.part().safe_filename().value_or("");
    }
    if (event == MultipartDecoder::Event::end || event == MultipartDecoder::Event::error) {
      return said;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view boundary = input.substr(0, line);
  (void)multipart_boundary(boundary);
  const auto usable =
      multipart_boundary("multipart/form-data; boundary=\"" + std::string(boundary) + "\"");
  if (!usable) return 0;
  const std::string_view body = input.substr(std::min(line + 1, input.size()));
  const std::string whole = said_by_pieces(*usable, body, body.size() + 1);
  SENNIT_ASSERT(whole.size() <= 3 * body.size() + 16);
  // Only an error may come earlier or later than data; what is complete is the same.
  if (whole.ends_with(static_cast<char>(MultipartDecoder::Event::end))) {
    SENNIT_ASSERT(said_by_pieces(*usable, body, 1) == whole);
    SENNIT_ASSERT(said_by_pieces(*usable, body, 7) == whole);
  }
  return 0;
}

}  // namespace sennit::http
