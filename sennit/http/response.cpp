#include "sennit/http/response.hpp"

#include "sennit/base/assert.hpp"

namespace sennit::http {
namespace {

constexpr std::string_view text_type = "text/plain; charset=utf-8";
constexpr std::string_view html_type = "text/html; charset=utf-8";
constexpr std::string_view json_type = "application/json";
constexpr std::string_view problem_type = "application/problem+json";

/// Length of the UTF-8 sequence at the front, 0 if it is not a valid one (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [text](std::size_t i) -> unsigned {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const auto follows = [&byte](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool overlong = first == 0xe0 && byte(1) < 0xa0;
    const bool surrogate = first == 0xed && byte(1) > 0x9f;
    return !overlong && !surrogate && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool overlong = first == 0xf0 && byte(1) < 0x90;
    const bool too_large = first == 0xf4 && byte(1) > 0x8f;
    return !overlong && !too_large && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// As the inside of a JSON string. Bytes that are not UTF-8 become U+FFFD.
void append_json_text(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text.front());
    std::size_t length = utf8_length(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      length = 1;
    } else if (c < 0x20 || c == 0x7f) {
      out += "\\u00";
      out += digits[c >> 4];
      out += digits[c & 15];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
}

}  // namespace

void Response::set_shared_body(std::shared_ptr<const std::string> body) {
  SENNIT_ASSERT(body != nullptr);
  set_static_body(*body);
  own_transfer().shared = std::move(body);
}

void Response::set_file(std::shared_ptr<FileBody> file) {
  SENNIT_ASSERT(file != nullptr);
  set_body({});
  own_transfer().file = std::move(file);
}

void Response::set_stream(std::shared_ptr<detail::ResponseStream> stream,
                          std::optional<std::uint64_t> length) {
  set_body({});
  own_transfer().stream = std::move(stream);
  own_transfer().stream_length = length;
}

void Response::set_encoder(std::shared_ptr<BodyEncoder> encoder) {
  own_transfer().encoder = std::move(encoder);
}

// A copy of the response keeps what it shared.
detail::Transfer& Response::own_transfer() {
  if (transfer_ == nullptr) {
    transfer_ = std::make_shared<detail::Transfer>();
  } else if (transfer_.use_count() > 1) {
    transfer_ = std::make_shared<detail::Transfer>(*transfer_);
  }
  return *transfer_;
}

std::optional<std::uint64_t> Response::transfer_length() const {
  if (transfer_->encoder != nullptr) return std::nullopt;
  if (transfer_->file != nullptr) return transfer_->file->length();
  if (transfer_->stream != nullptr) return transfer_->stream_length;
  return body().size();
}

Response text(std::string body) { return {Status::ok, text_type, std::move(body)}; }
Response text(Status status, std::string body) { return {status, text_type, std::move(body)}; }

Response static_text(std::string_view body) {
  Response response(Status::ok, text_type, {});
  response.set_static_body(body);
  return response;
}

Response json(std::string body) { return {Status::ok, json_type, std::move(body)}; }
Response json(Status status, std::string body) { return {status, json_type, std::move(body)}; }
Response html(std::string body) { return {Status::ok, html_type, std::move(body)}; }
Response empty(Status status) { return Response(status); }

Response redirect(std::string_view location, Status status) {
  Response response(status);
  if (!response.headers().set("Location", location)) {
    return problem(Status::internal_server_error, "redirect to a location that is not valid");
  }
  return response;
}

Response problem(Status status, std::string_view detail) {
  std::string body = R"({"title":")";
  body += reason_phrase(status);
  body += R"(","status":)";
  body += std::to_string(static_cast<unsigned>(status));
  if (!detail.empty()) {
    body += R"(,"detail":")";
    append_json_text(body, detail);
    body += '"';
  }
  body += '}';
  return {status, problem_type, std::move(body)};
}

}  // namespace sennit::http
