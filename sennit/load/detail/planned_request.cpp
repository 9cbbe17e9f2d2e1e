#include "sennit/load/detail/planned_request.hpp"

#include <charconv>
#include <optional>

#include "sennit/http/h1/serializer.hpp"

namespace sennit::load::detail {
namespace {

constexpr std::string_view close_field = "Connection: close\r\n";

Result<std::string> make_head(const PlannedRequest::Text& text) {
  for (const char* framing : {"Content-Length", "Transfer-Encoding"}) {
    if (text.headers.contains(framing)) {
      return failure(Errc::invalid_argument,
                     std::string("set the header ") + framing + " (it follows from the body)");
    }
  }
  if (text.method == "CONNECT") {
    return failure(Errc::invalid_argument, "load with CONNECT (there is no tunnel to use)");
  }
  Buffer head;
  if (auto written = http::h1::write_request_head(head, text.method, text.target, text.host,
                                                  text.headers, std::nullopt);
      !written) {
    return failure(std::move(written).error());
  }
  std::string_view before_empty_line = head.view();
  before_empty_line.remove_suffix(2);
  return std::string(before_empty_line);
}

}  // namespace

Result<PlannedRequest> PlannedRequest::make(const Text& text) {
  PlannedRequest made;
  SENNIT_TRY(std::string head, make_head(text));
  if (text.has_variables) {
    SENNIT_TRY(made.head_, Template::parse(head));
    SENNIT_TRY(made.body_, Template::parse(text.body));
  } else {
    made.head_ = Template::literal(std::move(head));
    made.body_ = Template::literal(text.body);
  }
  made.method_ = http::method_from_string(text.method);
  made.has_body_ = !text.body.empty();
  if (const auto value = text.headers.get("Connection")) {
    made.connection_ = "Connection: " + std::string(*value) + "\r\n";
  }
  if (made.is_constant()) {
    Random unused(1);
    for (const bool is_last : {false, true}) {
      Buffer out, scratch;
      made.append_to(out, scratch, is_last, 0, unused);
      (is_last ? made.last_bytes_ : made.bytes_) = out.view();
    }
  }
  return made;
}

void PlannedRequest::append_to(Buffer& out, Buffer& scratch, bool is_last, std::uint64_t sequence,
                               Random& random) const {
  head_.append_to(out, sequence, random);
  out.append(is_last ? close_field : std::string_view(connection_));
  if (!has_body_) return out.append("\r\n");
  scratch.clear();
  body_.append_to(scratch, sequence, random);
  char digits[24];
  const auto end = std::to_chars(digits, std::end(digits), scratch.size()).ptr;
  out.append("Content-Length: ");
  out.append({digits, static_cast<std::size_t>(end - digits)});
  out.append("\r\n\r\n");
  out.append(scratch.view());
}

}  // namespace sennit::load::detail
