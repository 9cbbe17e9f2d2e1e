#pragma once
// Form: name and value pairs as a query or an application/x-www-form-urlencoded body holds them.
//
//   server.post("/login", [](const http::Form& form) { return http::text(form.get_or("name")); });
//
// Kept in order and looked up by walking: with at most pairs_max of them no choice of names makes
// it slow.
//
// Thread safety: const functions any number of threads.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sennit/base/result.hpp"

namespace sennit::http {

class Form {
 public:
  static constexpr std::size_t pairs_max = 1000;

  /// Errors: malformed for an escape that is not valid; limit_reached for more than pairs_max.
  [[nodiscard]] static Result<Form> parse(std::string_view text);

  /// The first value of that name.
  [[nodiscard]] std::optional<std::string_view> get(std::string_view name) const;
  [[nodiscard]] std::string get_or(std::string_view name, std::string_view otherwise = {}) const {
    return std::string(get(name).value_or(otherwise));
  }
  [[nodiscard]] std::vector<std::string_view> get_all(std::string_view name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& pairs() const {
    return pairs_;
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace sennit::http
