// Whatever the bytes: the first outcome that is not partial does not depend on the split, more
// bytes never change it, and a complete head describes itself truthfully.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "sennit/base/assert.hpp"
#include "sennit/http/h1/parser.hpp"
#include "sennit/http/request.hpp"

namespace sennit::http::h1 {
namespace {

struct Answer {
  ParseOutcome outcome;
  RequestHead head;
};

/// Parses a copy of exactly these bytes, so that AddressSanitizer sees every read behind them.
void parse(std::string_view bytes, const Limits& limits, std::size_t scanned, Answer& answer) {
  const auto copy = std::make_unique_for_overwrite<char[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), copy.get());
  answer.outcome = parse_request_head({copy.get(), bytes.size()}, limits, answer.head, scanned);
}

void check_equal(const Answer& a, const Answer& b) {
  SENNIT_ASSERT(a.outcome.status == b.outcome.status, a.outcome.status, b.outcome.status);
  SENNIT_ASSERT(a.outcome.http_status == b.outcome.http_status);
  SENNIT_ASSERT(std::string_view(a.outcome.reason) == b.outcome.reason, a.outcome.reason);
  if (a.outcome.status != ParseStatus::complete) return;
  SENNIT_ASSERT(a.head.head_bytes == b.head.head_bytes);
  SENNIT_ASSERT(a.head.field_count == b.head.field_count);
  SENNIT_ASSERT(a.head.body == b.head.body);
  SENNIT_ASSERT(a.head.content_length == b.head.content_length);
  SENNIT_ASSERT(a.head.keep_alive == b.head.keep_alive);
  SENNIT_ASSERT(a.head.target.length == b.head.target.length);
}

void check_span(const Span& span, const RequestHead& head) {
  SENNIT_ASSERT(span.offset <= head.head_bytes && span.length <= head.head_bytes - span.offset);
}

void check_head(std::string_view bytes, const RequestHead& head) {
  SENNIT_ASSERT(head.head_bytes <= bytes.size());
  SENNIT_ASSERT(bytes.substr(0, head.head_bytes).ends_with("\r\n\r\n"));
  for (const Span& span : {head.method_name, head.target, head.path, head.query, head.host}) {
    check_span(span, head);
  }
  for (std::uint32_t i = 0; i < head.field_count; ++i) {
    check_span(head.fields[i].name, head);
    check_span(head.fields[i].value, head);
    const std::string_view value = head.fields[i].value.in(bytes.data());
    SENNIT_ASSERT(head.fields[i].name.length > 0);
    SENNIT_ASSERT(value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos);
  }
  SENNIT_ASSERT((head.body == Body::length) == (head.content_length > 0));
  http::Request request;
  request.assign(bytes.substr(0, head.head_bytes), head);
  SENNIT_ASSERT(request.target() == head.target.in(bytes.data()));
  (void)request.query("a");
  (void)request.header("host");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1'024) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Limits& limits : {Limits(), Limits{16, 64, 3}}) {
    Answer whole;
    parse(bytes, limits, 0, whole);
    if (whole.outcome.status == ParseStatus::complete) check_head(bytes, whole.head);

    Answer drip;
    drip.outcome.status = ParseStatus::partial;
    for (std::size_t length = 0; length <= size; ++length) {
      const std::size_t scanned = length > 0 ? length - 1 : 0;
      Answer plain;
      parse(bytes.substr(0, length), limits, 0, plain);
      parse(bytes.substr(0, length), limits, scanned, drip);
      check_equal(plain, drip);
      if (drip.outcome.status != ParseStatus::partial) break;
      Answer resumed;  // As if all the rest came at once.
      parse(bytes, limits, length, resumed);
      check_equal(whole, resumed);
    }
    check_equal(whole, drip);
  }
  return 0;
}

}  // namespace sennit::http::h1
