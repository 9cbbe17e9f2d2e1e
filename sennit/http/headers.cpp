#include "sennit/http/headers.hpp"

#include <utility>

#include "sennit/http/detail/chars.hpp"
#include "sennit/http/detail/scan.hpp"

namespace sennit::http {
namespace {

constexpr std::string_view separator = ": ";
constexpr std::string_view line_end = "\r\n";

std::string_view trimmed(std::string_view value) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
  return value;
}

/// Bytes of the first line; names hold no colon and values no CR, so both are where they seem.
std::size_t line_bytes(std::string_view text) { return text.find('\r') + line_end.size(); }

}  // namespace

bool is_header_name(std::string_view name) {
  return !name.empty() && detail::all_are(name, detail::token_char);
}

bool is_header_value(std::string_view value) {
  const char* const end = value.data() + value.size();
  return detail::find_value_end(value.data(), end) == end;
}

Result<> Headers::add(std::string_view name, std::string_view value) {
  if (!is_header_name(name)) return failure(Errc::invalid_argument, "set a header of that name");
  if (!is_header_value(value)) {
    return failure(Errc::invalid_argument, "set header " + std::string(name) + " to that value");
  }
  value = trimmed(value);
  // Appended in one piece: name and value may be views into text_ itself.
  std::string line;
  line.reserve(name.size() + separator.size() + value.size() + line_end.size());
  line.append(name).append(separator).append(value).append(line_end);
  if (text_.empty()) {
    text_ = std::move(line);
  } else {
    text_ += line;
  }
  return {};
}

Result<> Headers::set(std::string_view name, std::string_view value) {
  Headers line;  // First, since it may be refused, and since it copies what may be our own text.
  if (auto added = line.add(name, value); !added) return added;
  remove((*line.begin()).name);
  text_ += line.text_;
  return {};
}

std::size_t Headers::remove(std::string_view name) {
  if (!contains(name)) return 0;
  std::size_t removed = 0;
  std::string kept;  // Apart, since the name may be a view into text_.
  for (std::string_view rest = text_; !rest.empty();) {
    const std::size_t bytes = line_bytes(rest);
    if (detail::equals_ignoring_case((*Iterator(rest)).name, name)) {
      ++removed;
    } else {
      kept += rest.substr(0, bytes);
    }
    rest.remove_prefix(bytes);
  }
  text_ = std::move(kept);
  return removed;
}

std::optional<std::string_view> Headers::get(std::string_view name) const {
  for (const Header header : *this) {
    if (detail::equals_ignoring_case(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::size_t Headers::count() const {
  std::size_t total = 0;
  for (Iterator at = begin(); at != end(); ++at) ++total;
  return total;
}

Header Headers::Iterator::operator*() const {
  const std::size_t colon = rest_.find(':');
  const std::size_t value_at = colon + separator.size();
  return {rest_.substr(0, colon), rest_.substr(value_at, rest_.find('\r') - value_at)};
}

Headers::Iterator& Headers::Iterator::operator++() {
  rest_.remove_prefix(line_bytes(rest_));
  return *this;
}

}  // namespace sennit::http
