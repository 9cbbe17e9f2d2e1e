#include "sennit/http/form.hpp"

#include <algorithm>

#include "sennit/http/percent.hpp"

namespace sennit::http {

Result<Form> Form::parse(std::string_view text) {
  Form form;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    if (form.pairs_.size() == pairs_max) return failure(Errc::limit_reached, "read a form");
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = form_decoded(pair.substr(0, equals));
    auto value = form_decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return failure(Errc::malformed, "read a form's escapes");
    form.pairs_.emplace_back(*std::move(name), *std::move(value));
  }
  return form;
}

std::optional<std::string_view> Form::get(std::string_view name) const {
  const auto found = std::ranges::find(pairs_, name, &std::pair<std::string, std::string>::first);
  if (found == pairs_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string_view> Form::get_all(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [each, value] : pairs_) {
    if (each == name) values.emplace_back(value);
  }
  return values;
}

}  // namespace sennit::http
