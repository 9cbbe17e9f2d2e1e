// Input: lines of patterns, an empty line, then paths. Whatever the bytes: a route that is found
// matches its path by a naive matcher, and where none is found the naive matcher finds none.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/http/percent.hpp"
#include "sennit/http/router.hpp"

namespace sennit::http {
namespace {

std::string_view take_until(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> out;
  path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    out.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return out;
    path.remove_prefix(slash + 1);
  }
}

bool matches(std::string_view pattern, std::string_view path) {
  if (!path.starts_with('/')) return false;
  const auto wanted = segments(pattern);
  const auto given = segments(path);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i >= given.size()) return false;
    const bool is_param = wanted[i].starts_with('{');
    if (is_param && wanted[i].ends_with("*}")) return true;
    std::string decoded;
    append_percent_decoded(decoded, given[i]);
    if (is_param ? given[i].empty() : decoded != wanted[i]) return false;
  }
  return wanted.size() == given.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Router router;
  std::vector<std::string_view> patterns;
  while (!text.empty()) {
    const std::string_view pattern = take_until(text, '\n');
    if (pattern.empty()) break;
    const auto index = static_cast<std::uint32_t>(patterns.size());
    if (router.add(index % 3 == 2 ? Method::post : Method::get, pattern, index)) {
      patterns.push_back(pattern);
    }
  }
  while (!text.empty()) {
    const std::string_view path = take_until(text, '\n');
    RouteParams params;
    const Router::Match match = router.find(Method::get, path, params);
    if (match.found == Router::Found::bad_request) {
      SENNIT_ASSERT(!has_valid_escapes(path) || path.find("%00") != path.npos);
      continue;
    }
    if (path == "*") continue;
    if (match.found == Router::Found::route) {
      SENNIT_ASSERT(matches(patterns[match.handler_index], path), path);
      SENNIT_ASSERT(match.pattern == patterns[match.handler_index]);
      for (std::size_t i = 0; i < params.count; ++i) {
        SENNIT_ASSERT(path.find(params.params[i].raw) != path.npos &&
                      !params.params[i].name.empty());
      }
      continue;
    }
    bool any = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const bool is_match = matches(patterns[i], path);
      SENNIT_ASSERT(!is_match || i % 3 == 2, path, patterns[i]);  // Only POSTs may be left over.
      any = any || is_match;
    }
    SENNIT_ASSERT(any == (match.found == Router::Found::method_not_allowed), path);
  }
  return 0;
}

}  // namespace sennit::http
