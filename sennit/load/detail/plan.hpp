#pragma once
// Plan: the options of a run, checked and made ready, so that no worker has to think about them.

#include <string>

#include "sennit/base/result.hpp"
#include "sennit/http/method.hpp"
#include "sennit/load/options.hpp"
#include "sennit/net/address.hpp"

namespace sennit::load::detail {

struct Plan {
  net::Address address;
  std::string request;  // The bytes of one request, the same each time.
  http::Method method;
  Duration duration;
  Duration timeout;
};

/// Looks up the host and writes the request.
/// Errors: invalid_argument for options that make no sense, not_found for an unknown host.
[[nodiscard]] Result<Plan> make_plan(const Options& options);

/// Raises the limit of open files as far as it goes.
/// Errors: limit_reached if that is not enough for so many connections.
[[nodiscard]] Result<void> allow_connections(std::uint32_t connections);

}  // namespace sennit::load::detail
