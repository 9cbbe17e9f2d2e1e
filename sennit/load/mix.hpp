#pragma once
// Mix: several kinds of requests, each with a weight, whose texts may have variables.
//
//   [ {"weight": 9, "path": "/users/{1..1000}"},
//     {"weight": 1, "method": "PUT", "path": "/log/{seq}", "headers": {"X-Id": "{seq}"},
//      "body": "{{\"n\": {0..9}}}"} ]
//
// In paths, header values and bodies `{seq}` is a number that counts requests, `{LOW..HIGH}` a
// random one between both, and `{{` and `}}` are braces.
//
// Thread safety: values.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sennit/base/buffer.hpp"
#include "sennit/base/random.hpp"
#include "sennit/base/result.hpp"

namespace sennit::load {

/// A text with variables.
class Template {
 public:
  /// Errors: invalid_argument for braces that are not as above; the text says where.
  [[nodiscard]] static Result<Template> parse(std::string_view text);
  /// Braces have no meaning in it.
  [[nodiscard]] static Template literal(std::string text);

  void append_to(Buffer& out, std::uint64_t sequence, Random& random) const;
  /// Whether every rendering is the same.
  [[nodiscard]] bool is_constant() const { return variables_.empty(); }
  /// The text before, between and behind the variables, one more than these.
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Variable {
    bool is_sequence;
    std::int64_t low, high;
  };
  [[nodiscard]] static Result<Variable> parse_variable(std::string_view name);
  std::vector<std::string> texts_ = {std::string()};
  std::vector<Variable> variables_;
};

struct MixEntry {
  std::uint32_t weight = 1;  // 0: never sent.
  std::string method = "GET";
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string body = {};
};
using Mix = std::vector<MixEntry>;

/// Reads the JSON above. `method` is GET unless there is a body, then POST; `weight` is 1.
/// Errors: malformed for what is no such JSON, invalid_argument for an empty mix, unknown keys or
/// templates that are none; the text says which entry.
[[nodiscard]] Result<Mix> parse_mix(std::string_view json);

}  // namespace sennit::load
