#include "sennit/http/accept_encoding.hpp"

#include <algorithm>
#include <array>

#include "sennit/http/detail/chars.hpp"
#include "sennit/http/headers.hpp"

namespace sennit::http {
namespace {

constexpr std::array<std::string_view, 3> coding_names = {"identity", "gzip", "zstd"};
constexpr int unnamed = -1;

std::string_view blanks_off(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// In thousandths: "1", "0.5", "0.123". Nothing if it is none.
std::optional<int> weight_of(std::string_view text) {
  if (text.empty() || text.size() > 5 || (text[0] != '0' && text[0] != '1')) return std::nullopt;
  int weight = (text[0] - '0') * 1000;
  if (text.size() > 1 && text[1] != '.') return std::nullopt;
  int scale = 100;
  for (std::size_t i = 2; i < text.size(); ++i, scale /= 10) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    weight += (text[i] - '0') * scale;
  }
  return weight <= 1000 ? std::optional(weight) : std::nullopt;
}

}  // namespace

std::string_view to_string(Coding coding) { return coding_names[static_cast<std::size_t>(coding)]; }

std::optional<Coding> choose_coding(std::optional<std::string_view> field) {
  if (!field) return Coding::identity;
  std::array<int, 3> weights = {unnamed, unnamed, unnamed};
  int others = unnamed;
  for (std::string_view rest = *field; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = blanks_off(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    if (item.empty()) continue;
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    std::string_view name = blanks_off(item.substr(0, semicolon));
    if (!is_header_name(name)) return Coding::identity;
    int weight = 1000;
    if (semicolon < item.size()) {
      const std::string_view parameter = blanks_off(item.substr(semicolon + 1));
      if (!parameter.starts_with("q=") && !parameter.starts_with("Q=")) return Coding::identity;
      const auto given = weight_of(parameter.substr(2));
      if (!given) return Coding::identity;
      weight = *given;
    }
    if (detail::equals_ignoring_case(name, "x-gzip")) name = "gzip";
    if (name == "*") others = std::max(others, weight);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (detail::equals_ignoring_case(name, coding_names[i])) weights[i] = weight;
    }
  }
  if (weights[0] == unnamed) weights[0] = others == 0 ? 0 : std::max(others, 1);
  for (std::size_t i = 1; i < weights.size(); ++i) {
    if (weights[i] == unnamed) weights[i] = std::max(others, 0);
  }
  std::size_t best = 2;
  for (const std::size_t i : {1, 0}) {
    if (weights[i] > weights[best]) best = i;
  }
  if (weights[best] == 0) return std::nullopt;
  return static_cast<Coding>(best);
}

}  // namespace sennit::http
