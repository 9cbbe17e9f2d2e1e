#include "sennit/http/ranges.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "sennit/http/detail/chars.hpp"

namespace sennit::http {
namespace {

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Digits only; a number that does not fit is as good as the largest that does.
std::optional<std::uint64_t> range_number(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc::result_out_of_range ? UINT64_MAX : number;
}

bool have_overlaps(std::vector<ByteRange> ranges) {
  std::ranges::sort(ranges, {}, &ByteRange::offset);
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].offset < ranges[i - 1].offset + ranges[i - 1].bytes) return true;
  }
  return false;
}

}  // namespace

Ranges parse_ranges(std::string_view field, std::uint64_t length) {
  constexpr std::string_view unit = "bytes=";
  const Ranges ignored;
  if (!detail::equals_ignoring_case(field.substr(0, unit.size()), unit)) return ignored;
  field.remove_prefix(unit.size());
  Ranges found;
  std::size_t count = 0;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = field.find(',');
    is_last = comma == std::string_view::npos;
    const std::string_view spec = without_blanks(field.substr(0, comma));
    if (!is_last) field.remove_prefix(comma + 1);
    if (++count > ranges_max) return ignored;
    const std::size_t dash = spec.find('-');
    if (dash == std::string_view::npos) return ignored;
    const auto last = range_number(spec.substr(dash + 1));
    if (dash == 0) {  // The last so many.
      if (!last) return ignored;
      const std::uint64_t bytes = std::min(*last, length);
      if (bytes > 0) found.ranges.push_back({length - bytes, bytes});
      continue;
    }
    const auto first = range_number(spec.substr(0, dash));
    const bool is_open = dash + 1 == spec.size();
    if (!first || (!last && !is_open) || (last && *last < *first)) return ignored;
    if (*first >= length) continue;
    const std::uint64_t end = last && *last < length ? *last + 1 : length;
    found.ranges.push_back({*first, end - *first});
  }
  if (found.ranges.empty()) {
    found.kind = Ranges::Kind::unsatisfiable;
    return found;
  }
  if (have_overlaps(found.ranges)) return ignored;
  found.kind = Ranges::Kind::satisfiable;
  return found;
}

}  // namespace sennit::http
