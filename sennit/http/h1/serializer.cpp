#include "sennit/http/h1/serializer.hpp"

#include <charconv>
#include <cstring>

#include "sennit/http/detail/chars.hpp"
#include "sennit/http/h1/detail/fields.hpp"

namespace sennit::http::h1 {
namespace {

using http::detail::equals_ignoring_case;

constexpr std::size_t digits_max = 20;  // Of a 64-bit number.
constexpr std::string_view length_name = "Content-Length: ";
constexpr std::string_view type_name = "Content-Type: ";
constexpr std::string_view line_end = "\r\n";
constexpr std::string_view chunked_line = "Transfer-Encoding: chunked\r\n";
constexpr std::string_view close_line = "Connection: close\r\n";
constexpr std::string_view keep_alive_line = "Connection: keep-alive\r\n";

/// Writes into room that was prepared for it. The caller has done the sums.
class Writer {
 public:
  explicit Writer(char* at) : at_(at) {}

  void put(std::string_view text) {
    if (text.empty()) return;  // Its data may be null.
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void put(std::uint64_t number) { at_ = std::to_chars(at_, at_ + digits_max, number).ptr; }
  void put_hex(std::uint64_t number) { at_ = std::to_chars(at_, at_ + digits_max, number, 16).ptr; }
  [[nodiscard]] char* at() const { return at_; }

 private:
  char* at_;
};

bool is_framing(std::string_view name) {
  switch (name.size()) {
    case 10:
      return equals_ignoring_case(name, "connection");
    case 14:
      return equals_ignoring_case(name, "content-length");
    case 17:
      return equals_ignoring_case(name, "transfer-encoding");
    default:
      return false;
  }
}

void put_field(Writer& writer, const Header& header) {
  writer.put(header.name);
  writer.put(": ");
  writer.put(header.value);
  writer.put(line_end);
}

void put_status_line(Writer& writer, Status status) {
  const std::string_view line = status_line(status);
  if (!line.empty()) {
    writer.put(line);
    return;
  }
  writer.put("HTTP/1.1 ");
  writer.put(std::uint64_t{static_cast<std::uint16_t>(status)});
  writer.put(" \r\n");
}

/// Everything but the body. `room` is for the body behind it.
char* put_head(Buffer& out, std::size_t room, const Response& response, bool keep_alive,
               int minor_version, std::string_view date_line) {
  constexpr std::size_t fixed_max = 256;  // Status line, names, numbers and ends of all lines.
  const Headers& headers = response.headers();
  std::string_view content_type = response.content_type();
  const std::size_t head_max =
      fixed_max + date_line.size() + content_type.size() + headers.text().size();
  Writer writer(out.prepare(head_max + room).data());

  put_status_line(writer, response.status());
  if (!headers.empty()) {
    for (const Header header : headers) {
      if (is_framing(header.name)) continue;
      if (equals_ignoring_case(header.name, "date")) continue;
      if (equals_ignoring_case(header.name, "content-type")) content_type = {};
      put_field(writer, header);
    }
  }
  writer.put(date_line);
  if (!content_type.empty()) {
    writer.put(type_name);
    writer.put(content_type);
    writer.put(line_end);
  }
  const Status status = response.status();
  if (!is_bodiless(status)) {
    if (const auto length = response.content_length()) {
      writer.put(length_name);
      writer.put(*length);
      writer.put(line_end);
    } else if (minor_version != 0) {
      writer.put(chunked_line);
    }
  }
  if (!keep_alive) {
    writer.put(close_line);
  } else if (minor_version == 0) {
    writer.put(keep_alive_line);
  }
  writer.put(line_end);
  return writer.at();
}

}  // namespace

void write_response(Buffer& out, const Response& response, bool head_request, bool keep_alive,
                    int minor_version, std::string_view date_line) {
  const bool has_body = !head_request && !is_bodiless(response.status());
  const std::string_view body = has_body ? response.body() : std::string_view();
  Writer writer(put_head(out, body.size(), response, keep_alive, minor_version, date_line));
  writer.put(body);
  out.commit(static_cast<std::size_t>(writer.at() - out.prepare(0).data()));
}

bool write_response_head(Buffer& out, const Response& response, bool head_request, bool keep_alive,
                         int minor_version, std::string_view date_line) {
  const char* const end = put_head(out, 0, response, keep_alive, minor_version, date_line);
  out.commit(static_cast<std::size_t>(end - out.prepare(0).data()));
  return !head_request && !is_bodiless(response.status()) && response.content_length() != 0;
}

void write_chunk_head(Buffer& out, std::size_t bytes, bool is_first) {
  if (bytes == 0) return out.append(is_first ? "0\r\n\r\n" : "\r\n0\r\n\r\n");
  const std::span<char> room = out.prepare(2 + digits_max + line_end.size());
  Writer writer(room.data());
  if (!is_first) writer.put(line_end);
  writer.put_hex(bytes);
  writer.put(line_end);
  out.commit(static_cast<std::size_t>(writer.at() - room.data()));
}

Result<> write_request_head(Buffer& out, std::string_view method, std::string_view target,
                            std::string_view host, const Headers& headers,
                            std::optional<std::uint64_t> content_length) {
  using namespace http::detail;
  if (!is_header_name(method)) return failure(Errc::invalid_argument, "send a request: method");
  if (target.empty() || !all_are(target, target_char)) {
    return failure(Errc::invalid_argument, "send a request: target");
  }
  if (!detail::is_host(host)) return failure(Errc::invalid_argument, "send a request: host");

  constexpr std::size_t fixed_max = 128;
  const std::size_t head_max =
      fixed_max + method.size() + target.size() + host.size() + headers.text().size();
  const std::span<char> room = out.prepare(head_max);
  Writer writer(room.data());
  writer.put(method);
  writer.put(" ");
  writer.put(target);
  writer.put(" HTTP/1.1\r\nHost: ");
  writer.put(host);
  writer.put(line_end);
  for (const Header header : headers) {
    const bool is_host_field = equals_ignoring_case(header.name, "host");
    if (!is_host_field && !is_framing(header.name)) put_field(writer, header);
  }
  if (content_length.has_value()) {
    writer.put(length_name);
    writer.put(*content_length);
    writer.put(line_end);
  }
  writer.put(line_end);
  out.commit(static_cast<std::size_t>(writer.at() - room.data()));
  return {};
}

std::string http_date(WallTime time) {
  constexpr std::string_view days = "SunMonTueWedThuFriSat";
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));

  std::string text = "Www, DD Mmm YYYY HH:MM:SS GMT";
  const auto put_name = [&text](std::size_t at, std::string_view names, std::size_t index) {
    text.replace(at, 3, names.substr(index * 3, 3));
  };
  const auto put_digits = [&text](std::size_t at, std::size_t count, unsigned value) {
    for (std::size_t i = count; i-- > 0; value /= 10) {
      text[at + i] = static_cast<char>('0' + value % 10);
    }
  };
  put_name(0, days, std::chrono::weekday(day).c_encoding());
  put_digits(5, 2, unsigned{date.day()});
  put_name(8, months, unsigned{date.month()} - 1);
  put_digits(12, 4, static_cast<unsigned>(int{date.year()}));
  put_digits(17, 2, static_cast<unsigned>(clock.hours().count()));
  put_digits(20, 2, static_cast<unsigned>(clock.minutes().count()));
  put_digits(23, 2, static_cast<unsigned>(clock.seconds().count()));
  return text;
}

std::string date_line(WallTime time) { return "Date: " + http_date(time) + "\r\n"; }

}  // namespace sennit::http::h1
