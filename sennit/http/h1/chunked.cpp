#include "sennit/http/h1/chunked.hpp"

#include <algorithm>

#include "sennit/http/detail/chars.hpp"

namespace sennit::http::h1 {
namespace {

using namespace http::detail;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

}  // namespace

ChunkedDecoder::Step ChunkedDecoder::next(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size() && state_ < State::complete) {
    if (state_ != State::data) {
      take_byte(bytes[at++]);
      continue;
    }
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - at));
    const std::string_view data = bytes.substr(at, length);
    left_ -= length;
    body_bytes_ += length;
    if (left_ == 0) state_ = State::data_carriage_return;
    return {ParseStatus::partial, at + length, data};
  }
  if (state_ == State::error) return {ParseStatus::error, at, {}, http_status_, reason_};
  return {state_ == State::complete ? ParseStatus::complete : ParseStatus::partial, at, {}};
}

void ChunkedDecoder::fail(const char* reason, int http_status) {
  state_ = State::error;
  http_status_ = static_cast<std::uint16_t>(http_status);
  reason_ = reason;
}

void ChunkedDecoder::take_byte(char c) {
  switch (state_) {
    case State::size_first:
    case State::size:
      return take_size(c);
    case State::size_line_feed:
      return c == '\n' ? end_size_line()
                       : fail("carriage return without line feed in a chunk size");
    case State::data_carriage_return:
      if (c != '\r') return fail("chunk longer than its size");
      state_ = State::data_line_feed;
      return;
    case State::data_line_feed:
      if (c != '\n') return fail("carriage return without line feed after a chunk");
      state_ = State::size_first;
      return;
    case State::trailer_first:
    case State::trailer_name:
    case State::trailer_value:
    case State::trailer_line_feed:
    case State::last_line_feed:
      return take_trailer(c);
    default:
      return take_extension(c);
  }
}

void ChunkedDecoder::take_size(char c) {
  if (is(c, hex_digit)) {
    constexpr std::uint8_t digits_max = 16;  // Leading zeros included.
    if (size_digits_ == digits_max || left_ > (INT64_MAX >> 4)) return fail("chunk size too large");
    left_ = left_ * 16 + static_cast<std::uint64_t>(hex_value(c));
    ++size_digits_;
    state_ = State::size;
  } else if (state_ == State::size_first) {
    fail("malformed chunk size");
  } else if (c == '\r') {
    state_ = State::size_line_feed;
  } else if (c == ';' || is_blank(c)) {
    state_ = State::extension_blank;
    take_extension(c);
  } else {
    fail("malformed chunk size");
  }
}

void ChunkedDecoder::end_size_line() {
  state_ = left_ == 0 ? State::trailer_first : State::data;
  size_digits_ = 0;
  chunk_extension_bytes_ = 0;
}

// chunk-ext = *( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )
void ChunkedDecoder::take_extension(char c) {
  const bool ends_line =
      c == '\r' && (state_ == State::extension_name || state_ == State::extension_token ||
                    state_ == State::extension_quote_end);
  if (ends_line) {
    state_ = State::size_line_feed;
    return;
  }
  if (++chunk_extension_bytes_ > limits_.chunk_extension_bytes_max ||
      ++extension_bytes_ > limits_.extension_bytes_max) {
    return fail("chunk extensions too large");
  }
  switch (state_) {
    case State::extension_blank:
    case State::extension_quote_end:
      if (is_blank(c)) return void(state_ = State::extension_blank);
      if (c == ';') return void(state_ = State::extension_name_first);
      break;
    case State::extension_name_first:
      if (is_blank(c)) return;
      if (is(c, token_char)) return void(state_ = State::extension_name);
      break;
    case State::extension_name:
    case State::extension_name_blank:
      if (state_ == State::extension_name && is(c, token_char)) return;
      if (is_blank(c)) return void(state_ = State::extension_name_blank);
      if (c == ';') return void(state_ = State::extension_name_first);
      if (c == '=') return void(state_ = State::extension_value_first);
      break;
    case State::extension_value_first:
      if (is_blank(c)) return;
      if (c == '"') return void(state_ = State::extension_quoted);
      if (is(c, token_char)) return void(state_ = State::extension_token);
      break;
    case State::extension_token:
      if (is(c, token_char)) return;
      if (is_blank(c)) return void(state_ = State::extension_blank);
      if (c == ';') return void(state_ = State::extension_name_first);
      break;
    case State::extension_quoted:
      if (c == '"') return void(state_ = State::extension_quote_end);
      if (c == '\\') return void(state_ = State::extension_escaped);
      if (is(c, value_char)) return;
      break;
    case State::extension_escaped:
      if (is(c, value_char)) return void(state_ = State::extension_quoted);
      break;
    default:
      break;
  }
  fail("malformed chunk extension");
}

void ChunkedDecoder::take_trailer(char c) {
  if (++trailer_bytes_ > limits_.trailer_bytes_max) return fail("trailers too large", 431);
  switch (state_) {
    case State::trailer_first:
      if (c == '\r') return void(state_ = State::last_line_feed);
      if (is(c, token_char)) return void(state_ = State::trailer_name);
      break;
    case State::trailer_name:
      if (is(c, token_char)) return;
      if (c == ':') return void(state_ = State::trailer_value);
      break;
    case State::trailer_value:
      if (is(c, value_char)) return;
      if (c == '\r') return void(state_ = State::trailer_line_feed);
      break;
    case State::trailer_line_feed:
      if (c == '\n') return void(state_ = State::trailer_first);
      break;
    default:
      if (c == '\n') return void(state_ = State::complete);
      break;
  }
  fail("malformed trailer");
}

}  // namespace sennit::http::h1
