// Whatever the bytes and the method: the first outcome that is not partial does not depend on the
// split, more bytes never change it, and a complete head describes itself truthfully.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/h1/parser.hpp"

namespace sennit::http::h1 {
namespace {

/// Parses a copy of exactly these bytes, so that AddressSanitizer sees every read behind them.
ParseOutcome parse(std::string_view bytes, Method method, ResponseHead& head) {
  const auto copy = std::make_unique_for_overwrite<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  return parse_response_head({copy.get(), bytes.size()}, Limits(), method, head);
}

void check_head(std::string_view bytes, Method method, const ResponseHead& head) {
  SENNIT_ASSERT(head.head_bytes <= bytes.size());
  SENNIT_ASSERT(bytes.substr(0, head.head_bytes).ends_with("\r\n\r\n"));
  SENNIT_ASSERT(head.status >= 100 && head.status <= 599, head.status);
  SENNIT_ASSERT(head.reason.offset + head.reason.length <= head.head_bytes);
  SENNIT_ASSERT(head.body != Body::until_close || !head.keep_alive);
  SENNIT_ASSERT(method != Method::head || head.body == Body::none);
  for (std::uint32_t i = 0; i < head.field_count; ++i) {
    const Field& field = head.fields[i];
    SENNIT_ASSERT(field.value.offset + field.value.length <= head.head_bytes);
    SENNIT_ASSERT(field.name.length > 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1'024) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Method method : {Method::get, Method::head, Method::connect}) {
    ResponseHead head;
    const ParseOutcome whole = parse(bytes, method, head);
    if (whole.status == ParseStatus::complete) check_head(bytes, method, head);
    const std::uint32_t head_bytes = head.head_bytes;
    for (std::size_t length = 0; length <= size; ++length) {
      const ParseOutcome prefix = parse(bytes.substr(0, length), method, head);
      if (prefix.status == ParseStatus::partial) {
        SENNIT_ASSERT(length < size || whole.status == ParseStatus::partial);
        continue;
      }
      SENNIT_ASSERT(prefix.status == whole.status, length);
      SENNIT_ASSERT(std::string_view(prefix.reason) == whole.reason, length);
      if (whole.status != ParseStatus::complete) break;
      SENNIT_ASSERT(head.head_bytes == head_bytes && head_bytes == length, length);
      break;
    }
  }
  return 0;
}

}  // namespace sennit::http::h1
