#pragma once
// Conditional requests (RFC 9110, section 13), for a GET or HEAD of something that exists.

#include <optional>
#include <string>
#include <string_view>

#include "sennit/base/time.hpp"
#include "sennit/http/request.hpp"
#include "sennit/http/status.hpp"

namespace sennit::http::detail {

struct Validators {
  std::string tag;    // With its quotes; strong.
  WallTime modified;  // Whole seconds.
};

/// "Sun, 06 Nov 1994 08:49:37 GMT", the one form that may be sent (section 5.6.7), only.
[[nodiscard]] std::optional<WallTime> parse_http_date(std::string_view text);

/// ok, not_modified or precondition_failed.
[[nodiscard]] Status evaluate_conditions(const Request& request, const Validators& now);

/// Whether If-Range, if there is one, lets a Range apply.
[[nodiscard]] bool range_applies(const Request& request, const Validators& now);

}  // namespace sennit::http::detail
