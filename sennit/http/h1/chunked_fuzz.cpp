// Whatever the bytes: body and end do not depend on the split, an end is final, and what is taken
// for chunked decodes to the same body once it is encoded again.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/base/random.hpp"
#include "sennit/http/h1/chunked.hpp"

namespace sennit::http::h1 {
namespace {

struct Answer {
  ParseStatus status = ParseStatus::partial;
  std::string_view reason;
  std::size_t consumed = 0;
  std::string body;
};

/// Decodes pieces of at most `piece_max` bytes, or of random lengths for 0.
Answer decode(std::string_view bytes, std::size_t piece_max, const ChunkedLimits& limits) {
  Answer answer;
  ChunkedDecoder decoder(limits);
  Random random(bytes.size());
  while (answer.consumed < bytes.size() && answer.status == ParseStatus::partial) {
    const std::size_t left = bytes.size() - answer.consumed;
    const std::size_t wanted = piece_max == 0 ? 1 + random.below(16) : piece_max;
    const std::size_t length = std::min(left, wanted);
    const auto copy = std::make_unique_for_overwrite<char[]>(length);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(answer.consumed), length, copy.get());
    const auto step = decoder.next({copy.get(), length});
    SENNIT_ASSERT(step.consumed > 0 && step.consumed <= length, step.consumed, length);
    answer.consumed += step.consumed;
    answer.status = step.status;
    answer.reason = step.reason;
    answer.body += step.data;
  }
  SENNIT_ASSERT(decoder.body_bytes() == answer.body.size());
  if (answer.status != ParseStatus::partial) {
    const auto again = decoder.next("1\r\nx\r\n");
    SENNIT_ASSERT(again.status == answer.status && again.consumed == 0 && again.data.empty());
  }
  return answer;
}

void check_equal(const Answer& a, const Answer& b) {
  SENNIT_ASSERT(a.status == b.status, a.status, b.status);
  SENNIT_ASSERT(a.reason == b.reason, a.reason, b.reason);
  SENNIT_ASSERT(a.consumed == b.consumed, a.consumed, b.consumed);
  SENNIT_ASSERT(a.body == b.body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const ChunkedLimits& limits : {ChunkedLimits(), ChunkedLimits{6, 12, 12}}) {
    const Answer whole = decode(bytes, SIZE_MAX, limits);
    check_equal(whole, decode(bytes, 1, limits));
    check_equal(whole, decode(bytes, 0, limits));
    if (whole.status != ParseStatus::complete) continue;
    SENNIT_ASSERT(bytes.substr(0, whole.consumed).ends_with("\n\r\n"));
    char line[32];
    std::snprintf(line, sizeof line, "%zx\r\n", whole.body.size());
    const std::string encoded =
        whole.body.empty() ? "0\r\n\r\n" : line + whole.body + "\r\n0\r\n\r\n";
    const Answer again = decode(encoded, 0, limits);
    SENNIT_ASSERT(again.status == ParseStatus::complete && again.body == whole.body);
  }
  return 0;
}

}  // namespace sennit::http::h1
