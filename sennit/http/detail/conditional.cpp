#include "sennit/http/detail/conditional.hpp"

#include <algorithm>

#include "sennit/http/h1/serializer.hpp"

namespace sennit::http::detail {
namespace {

enum class Compare : unsigned char { strong, weak };

std::string_view tag_trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// A tag may hold commas; it ends with its second quote.
bool lists_tag(std::string_view list, std::string_view tag, Compare how) {
  if (tag_trimmed(list) == "*") return true;
  while (!list.empty()) {
    list = tag_trimmed(list);
    const bool is_weak = list.starts_with("W/");
    if (is_weak) list.remove_prefix(2);
    if (!list.starts_with('"')) return false;
    const std::size_t end = list.find('"', 1);
    if (end == std::string_view::npos) return false;
    if (list.substr(0, end + 1) == tag && (how == Compare::weak || !is_weak)) return true;
    list = tag_trimmed(list.substr(end + 1));
    if (!list.empty() && list.front() != ',') return false;
    list.remove_prefix(std::min<std::size_t>(1, list.size()));
  }
  return false;
}

int digits_at(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

}  // namespace

std::optional<WallTime> parse_http_date(std::string_view text) {
  constexpr std::string_view pattern = "Www, DD Mmm YYYY HH:MM:SS GMT";
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != pattern.size()) return std::nullopt;
  const std::size_t month = months.find(text.substr(8, 3));
  const int day = digits_at(text, 5, 2);
  const int year = digits_at(text, 12, 4);
  const int hour = digits_at(text, 17, 2);
  const int minute = digits_at(text, 20, 2);
  const int second = digits_at(text, 23, 2);
  if (month == months.npos || month % 3 != 0 || day < 1 || year < 1970 || year > 2200 || hour < 0 ||
      hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month / 3 + 1)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  const auto time = WallTime(std::chrono::sys_days(date).time_since_epoch()) +
                    std::chrono::hours(hour) + std::chrono::minutes(minute) +
                    std::chrono::seconds(second);
  // Written again it must be the same: that checks the day of the week and all between the fields.
  return h1::http_date(time) == text ? std::optional(time) : std::nullopt;
}

Status evaluate_conditions(const Request& request, const Validators& now) {
  if (const auto match = request.header("if-match")) {
    if (!lists_tag(*match, now.tag, Compare::strong)) return Status::precondition_failed;
  } else if (const auto since = request.header("if-unmodified-since")) {
    const auto time = parse_http_date(*since);
    if (time && now.modified > *time) return Status::precondition_failed;
  }
  if (const auto none = request.header("if-none-match")) {
    return lists_tag(*none, now.tag, Compare::weak) ? Status::not_modified : Status::ok;
  }
  if (const auto since = request.header("if-modified-since")) {
    const auto time = parse_http_date(*since);
    if (time && now.modified <= *time) return Status::not_modified;
  }
  return Status::ok;
}

bool range_applies(const Request& request, const Validators& now) {
  const auto wanted = request.header("if-range");
  if (!wanted) return true;
  if (wanted->starts_with('"')) return *wanted == now.tag;
  const auto time = parse_http_date(*wanted);
  return time && *time == now.modified;
}

}  // namespace sennit::http::detail
