#pragma once
// Plan: the options of a run, checked and made ready, so that no worker has to think about them.

#include <cstdint>
#include <memory>
#include <vector>

#include "sennit/base/random.hpp"
#include "sennit/base/result.hpp"
#include "sennit/load/detail/planned_request.hpp"
#include "sennit/load/options.hpp"
#include "sennit/load/schedule.hpp"
#include "sennit/net/address.hpp"

namespace sennit::load::detail {

struct Plan {
  net::Address address;
  std::vector<PlannedRequest> requests;      // One at least.
  std::vector<std::uint64_t> weights;        // Running sums, as long as `requests`.
  std::unique_ptr<const Schedule> schedule;  // Null: a closed loop.
  std::uint32_t connections;
  std::uint32_t pipeline;
  std::uint32_t requests_per_connection;  // 0: no limit.
  Duration warm_up;
  Duration duration;  // With the warm-up.
  Duration timeout;
  Duration lag_max;
  unsigned workers;
  std::uint64_t seed;

  [[nodiscard]] const PlannedRequest& choose(Random& random) const;
};

/// Looks up the host and writes the requests.
/// Errors: invalid_argument for options that make no sense, not_found for an unknown host.
[[nodiscard]] Result<Plan> make_plan(const Options& options);

/// Raises the limit of open files as far as it goes.
/// Errors: limit_reached if that is not enough for so many connections.
[[nodiscard]] Result<void> allow_connections(std::uint64_t connections);

}  // namespace sennit::load::detail
