#include "sennit/http/multipart.hpp"

#include <algorithm>

#include "sennit/http/detail/chars.hpp"
#include "sennit/http/headers.hpp"

namespace sennit::http {
namespace {

using Event = MultipartDecoder::Event;

std::string_view stripped(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Takes `; name=value` from the front; the value may be quoted, with backslashes before quotes.
bool take_parameter(std::string_view& rest, std::string_view& name, std::string& value) {
  rest = stripped(rest);
  if (!rest.starts_with(';')) return false;
  rest = stripped(rest.substr(1));
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos) return false;
  name = stripped(rest.substr(0, equals));
  rest.remove_prefix(equals + 1);
  value.clear();
  if (!rest.starts_with('"')) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    value = stripped(rest.substr(0, end));
    rest.remove_prefix(end);
    return is_header_name(name);
  }
  rest.remove_prefix(1);
  for (; !rest.empty() && rest.front() != '"'; rest.remove_prefix(1)) {
    const bool is_escape =
        rest.front() == '\\' && rest.size() > 1 && (rest[1] == '"' || rest[1] == '\\');
    if (is_escape) rest.remove_prefix(1);
    value += rest.front();
  }
  if (rest.empty()) return false;
  rest.remove_prefix(1);
  return is_header_name(name);
}

bool is_boundary(std::string_view text) {
  return !text.empty() && text.size() <= 70 && text.back() != ' ' &&
         std::ranges::all_of(text, [](char c) {
           const char low = detail::to_lower(c);
           return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
                  std::string_view("'()+_,-./:=? ").find(c) != std::string_view::npos;
         });
}

}  // namespace

std::optional<std::string> MultipartPart::safe_filename() const {
  if (!filename) return std::nullopt;
  const std::size_t slash = filename->find_last_of("/\\");
  std::string last = slash == std::string::npos ? *filename : filename->substr(slash + 1);
  const bool has_control = std::ranges::any_of(
      last, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (last.empty() || last == "." || last == ".." || has_control || last.size() > 255) {
    return std::nullopt;
  }
  return last;
}

std::optional<std::string> multipart_boundary(std::string_view content_type) {
  const std::size_t end = std::min(content_type.find(';'), content_type.size());
  const bool is_form =
      detail::equals_ignoring_case(stripped(content_type.substr(0, end)), "multipart/form-data");
  if (!is_form) return std::nullopt;
  std::string_view rest = content_type.substr(end);
  std::string_view name;
  std::string value;
  std::optional<std::string> boundary;
  while (take_parameter(rest, name, value)) {
    if (!detail::equals_ignoring_case(name, "boundary")) continue;
    if (boundary || !is_boundary(value)) return std::nullopt;
    boundary = value;
  }
  return stripped(rest).empty() ? boundary : std::nullopt;
}

MultipartDecoder::MultipartDecoder(std::string_view boundary, const MultipartLimits& limits)
    : delimiter_("\r\n--" + std::string(boundary)), limits_(limits) {
  buffer_.append("\r\n");  // So that the first boundary looks like the others.
}

Event MultipartDecoder::fail(Errc code, const char* what) {
  state_ = State::error;
  error_ = Error(code, std::string("read a multipart body: ") + what);
  return Event::error;
}

Event MultipartDecoder::next() {
  buffer_.consume(std::exchange(used_, 0));
  data_ = {};
  for (;;) {
    const std::string_view text = buffer_.view();
    switch (state_) {
      case State::first:
        if (text.size() < delimiter_.size()) {
          return delimiter_.starts_with(text) ? Event::need_more
                                              : fail(Errc::malformed, "its first boundary");
        }
        if (!text.starts_with(delimiter_)) return fail(Errc::malformed, "its first boundary");
        buffer_.consume(delimiter_.size());
        state_ = State::after_boundary;
        break;
      case State::after_boundary:
        if (text.size() < 2) return Event::need_more;
        if (text.starts_with("--")) {
          state_ = State::end;  // An epilogue is ignored.
        } else if (text.starts_with("\r\n")) {
          if (++part_count_ > limits_.parts_max) return fail(Errc::limit_reached, "too many parts");
          buffer_.consume(2);
          state_ = State::head;
        } else {
          return fail(Errc::malformed, "what follows a boundary");
        }
        break;
      case State::head:
        return read_head();
      case State::body:
        return read_data();
      case State::end:
        buffer_.release();
        return Event::end;
      case State::error:
        return Event::error;
    }
  }
}

Event MultipartDecoder::read_head() {
  constexpr std::string_view head_end = "\r\n\r\n";
  const std::string_view text = buffer_.view();
  if (text.starts_with("\r\n")) return fail(Errc::malformed, "a part without a name");
  const std::size_t end = text.find(head_end);
  if (std::min(end, text.size()) > limits_.head_bytes_max) {
    return fail(Errc::limit_reached, "the head of a part is too long");
  }
  if (end == std::string_view::npos) return Event::need_more;
  if (const char* const why = parse_head(text.substr(0, end))) return fail(Errc::malformed, why);
  // The CRLF before the data may belong to the boundary of an empty part.
  used_ = end + 2;
  state_ = State::body;
  is_in_part_ = false;
  return Event::part;
}

// What is wrong with it, or null.
const char* MultipartDecoder::parse_head(std::string_view head) {
  part_ = MultipartPart();
  bool has_name = false;
  while (!head.empty()) {
    const std::size_t end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(end + 2, head.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_header_name(line.substr(0, colon))) {
      return "a header field of a part";
    }
    const std::string_view value = stripped(line.substr(colon + 1));
    if (!is_header_value(value)) return "a header field of a part";
    if (detail::equals_ignoring_case(line.substr(0, colon), "content-type")) {
      part_.content_type = value;
    }
    if (!detail::equals_ignoring_case(line.substr(0, colon), "content-disposition")) continue;
    const std::size_t semicolon = std::min(value.find(';'), value.size());
    const bool is_form_data =
        detail::equals_ignoring_case(stripped(value.substr(0, semicolon)), "form-data");
    if (!is_form_data || has_name) return "a Content-Disposition";
    std::string_view rest = value.substr(semicolon);
    std::string_view name;
    std::string parameter;
    while (take_parameter(rest, name, parameter)) {
      if (detail::equals_ignoring_case(name, "name")) {
        if (std::exchange(has_name, true)) return "a Content-Disposition with two names";
        part_.name = parameter;
      } else if (detail::equals_ignoring_case(name, "filename")) {
        if (part_.filename) return "a Content-Disposition with two file names";
        part_.filename = parameter;
      }
    }
    if (!stripped(rest).empty()) return "a Content-Disposition";
  }
  return has_name ? nullptr : "a part without a name";
}

Event MultipartDecoder::read_data() {
  if (!is_in_part_) {  // The line end of the head.
    const std::string_view text = buffer_.view();
    if (text.size() < delimiter_.size()) return Event::need_more;
    is_in_part_ = true;
    if (!text.starts_with(delimiter_)) buffer_.consume(2);
  }
  const std::string_view text = buffer_.view();
  const std::size_t at = text.find(delimiter_);
  if (at == 0) {
    buffer_.consume(delimiter_.size());
    state_ = State::after_boundary;
    return Event::part_end;
  }
  // What could be the beginning of a boundary waits for the rest of it.
  const std::size_t kept = at == std::string_view::npos ? delimiter_.size() - 1 : 0;
  const std::size_t bytes = std::min(at, text.size()) - std::min(kept, std::min(at, text.size()));
  if (bytes == 0) return Event::need_more;
  data_ = text.substr(0, bytes);
  used_ = bytes;
  return Event::data;
}

Result<MultipartReader> MultipartReader::open(const Request& request, BodyReader& body,
                                              const MultipartLimits& limits) {
  const auto boundary = multipart_boundary(request.header("content-type").value_or(""));
  if (!boundary) return failure(Errc::malformed, "read the body as multipart/form-data");
  return MultipartReader(body, MultipartDecoder(*boundary, limits));
}

Task<Result<Event>> MultipartReader::advance() {
  for (;;) {
    last_ = decoder_.next();
    if (last_ == Event::error) co_return failure(decoder_.error());
    if (last_ != Event::need_more) co_return last_;
    const Result<std::string_view> piece = co_await body_->read();
    if (!piece) co_return failure(piece.error());
    if (piece->empty()) co_return failure(Errc::malformed, "read a multipart body to its end");
    decoder_.feed(*piece);
  }
}

Task<Result<std::optional<MultipartPart>>> MultipartReader::next() {
  for (;;) {
    const Result<Event> event = co_await advance();
    if (!event) co_return failure(event.error());
    if (*event == Event::part) co_return decoder_.part();
    if (*event == Event::end) co_return std::optional<MultipartPart>();
  }
}

Task<Result<std::string_view>> MultipartReader::read() {
  if (last_ != Event::part && last_ != Event::data) co_return std::string_view();
  const Result<Event> event = co_await advance();
  if (!event) co_return failure(event.error());
  co_return *event == Event::data ? decoder_.data() : std::string_view();
}

}  // namespace sennit::http
