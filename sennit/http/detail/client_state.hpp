#pragma once
// ClientState: what a Client keeps between calls: its resolver, and for each origin a pool, a retry
// budget, and what is known of its addresses.
//
// Thread safety: none; of one worker.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sennit/http/client.hpp"
#include "sennit/http/detail/client_wire.hpp"
#include "sennit/http/url.hpp"
#include "sennit/metrics/golden_signals.hpp"
#include "sennit/net/resolver.hpp"
#include "sennit/service/balancer.hpp"
#include "sennit/service/outlier.hpp"
#include "sennit/service/pool.hpp"
#include "sennit/service/retry_budget.hpp"

namespace sennit::http::detail {

struct Origin {
  explicit Origin(const ClientOptions& options)
      : pool(options.pool), budget(options.retry_budget) {}

  service::Pool pool;
  service::RetryBudget budget;
  std::optional<metrics::GoldenCells> cells;
  std::vector<net::Address> addresses;  // As of the last resolving, with what is known of them.
  std::optional<service::OutlierDetector> outliers;
  service::RoundRobin turns;
  std::size_t call_count = 0;  // Calls that hold a reference to it.
};

using Connected = std::expected<service::Connection, WireError>;

struct ClientState {
  explicit ClientState(const ClientOptions& o);

  /// Errors: limit_reached with origins_max of them in use.
  Result<Origin*> origin(const Url& url);
  /// Resolves and connects; of several addresses the one whose turn it is, then the others.
  Task<Connected> connect(const Url& url, Origin& origin, Deadline deadline);

  const ClientOptions options;
  runtime::Worker& worker;
  net::Resolver resolver;
  std::optional<metrics::GoldenSignals> signals;
  std::map<std::string, std::unique_ptr<Origin>> origins;

 private:
  Task<Result<std::vector<net::Address>>> addresses_of(const Url& url, Deadline deadline);
  void learn(Origin& origin, const std::vector<net::Address>& found) const;
};

}  // namespace sennit::http::detail
