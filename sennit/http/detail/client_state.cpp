#include "sennit/http/detail/client_state.hpp"

#include <algorithm>

#include "sennit/runtime/worker.hpp"

namespace sennit::http::detail {
namespace {

// A head is looked at where it was received, so there must be room for all of it.
std::size_t unread_bytes_max(const ClientOptions& options) {
  constexpr std::size_t body_bytes = std::size_t{64} * 1024;
  return options.head_limits.uri_bytes_max + options.head_limits.header_bytes_max + body_bytes;
}

}  // namespace

ClientState::ClientState(const ClientOptions& o)
    : options(o), worker(runtime::Worker::here()), resolver(o.resolver) {
  if (options.registry == nullptr) return;
  signals.emplace(
      *options.registry,
      metrics::GoldenSignalsOptions{.prefix = "http_client", .operation = "origin", .latency = {}});
}

Result<Origin*> ClientState::origin(const Url& url) {
  const auto found = origins.find(url.origin());
  if (found != origins.end()) return found->second.get();
  if (origins.size() >= options.origins_max) {
    const auto unused = std::ranges::find_if(origins, [](const auto& entry) {
      const Origin& each = *entry.second;
      return each.call_count == 0 && each.pool.open_count() == each.pool.idle_count();
    });
    if (unused == origins.end()) {
      return failure(Errc::limit_reached, "ask " + url.origin() + " (too many origins at once)");
    }
    origins.erase(unused);
  }
  auto made = std::make_unique<Origin>(options);
  if (signals) made->cells.emplace(signals->cells(url.origin(), worker.index()));
  return origins.emplace(url.origin(), std::move(made)).first->second.get();
}

Task<Result<std::vector<net::Address>>> ClientState::addresses_of(const Url& url,
                                                                  Deadline deadline) {
  if (url.is_unix()) {
    const Result<net::Address> address = net::Address::parse("unix:" + url.host());
    if (!address) co_return std::unexpected(address.error());
    co_return std::vector<net::Address>(1, *address);
  }
  Result<std::vector<net::Address>> found =
      co_await resolver.resolve(url.host(), url.port(), deadline);
  co_return found;
}

// What is known of addresses is forgotten when the list changes.
void ClientState::learn(Origin& origin, const std::vector<net::Address>& found) const {
  if (origin.outliers && origin.addresses == found) return;
  origin.addresses = found;
  origin.outliers.emplace(found.size(), options.outliers);
}

Task<Connected> ClientState::connect(const Url& url, Origin& origin, Deadline deadline) {
  const Deadline connected_by =
      std::min(deadline, Deadline::after(options.connect_timeout, worker.clock()));
  const Result<std::vector<net::Address>> found = co_await addresses_of(url, deadline);
  if (!found) co_return std::unexpected(WireError{Phase::resolve, found.error(), false});
  learn(origin, *found);
  std::vector<service::Candidate> candidates(found->size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    candidates[i].is_available = !origin.outliers->is_ejected(i, worker.now());
  }
  const std::size_t first = origin.turns.pick(candidates).value();
  Error last(Errc::unreachable, "connect to " + url.origin());
  for (std::size_t i = 0; i < found->size(); ++i) {
    const std::size_t index = (first + i) % found->size();
    // Each address has its share of the time that is left, the last all of it.
    const Duration left = connected_by.remaining(worker.clock().now());
    const auto share = static_cast<Duration::rep>(found->size() - i);
    const Deadline try_until = Deadline::after(left / share, worker.clock());
    Result<service::Connection> connection =
        service::Connection::open((*found)[index], unread_bytes_max(options));
    if (!connection) {
      last = std::move(connection).error();
      continue;
    }
    const Result<void> waited = co_await connection->wait_sent(std::min(try_until, connected_by));
    const bool is_known = origin.addresses == *found;  // Others may have learnt another list.
    if (waited && !connection->failure()) {
      if (is_known) origin.outliers->succeeded(index);
      co_return *std::move(connection);
    }
    last = waited ? *connection->failure() : waited.error();
    if (last.code() == Errc::cancelled) break;
    if (is_known) origin.outliers->failed(index, worker.now());
  }
  co_return std::unexpected(WireError{Phase::connect, std::move(last), false});
}

}  // namespace sennit::http::detail
