#include "sennit/http/detail/server_metrics.hpp"

#include <string>

#include "sennit/http/detail/worker_service.hpp"

namespace sennit::http::detail {

ServerMetrics::ServerMetrics(const Shared& shared, unsigned worker_index)
    : worker_index_(worker_index) {
  if (shared.registry == nullptr) return;
  metrics::Registry& registry = *shared.registry;
  const std::size_t route_count = shared.routes.size() / 2;
  for (std::size_t i = 0; i <= route_count; ++i) {
    const std::string& name = shared.routes[i == route_count ? 2 * route_count : i].name;
    cells_.push_back(shared.signals->cells(name, worker_index));
  }
  connections_ =
      &registry.gauge("http_server_connections", "Connections open now.").with().cell(worker_index);
  accepted_ = &registry.counter("http_server_connections_accepted_total", "Connections accepted.")
                   .with()
                   .cell(worker_index);
  pauses_ = &registry
                 .counter("http_server_accept_pauses_total",
                          "Pauses of accepting, for want of descriptors or by the limit.")
                 .with()
                 .cell(worker_index);
  shed_share_ = &registry
                     .gauge("http_server_shed_share",
                            "Share of requests turned away for queue delay, summed over workers.")
                     .with()
                     .cell(worker_index);
  refused_ = &registry.counter("http_server_refused_total",
                               "Messages refused before or instead of a handler.", {"status"});
}

void ServerMetrics::accepted(std::size_t open_now) {
  if (accepted_ == nullptr) return;
  accepted_->add();
  connections_->set(static_cast<double>(open_now));
}

void ServerMetrics::ended(std::size_t open_now) {
  if (connections_ != nullptr) connections_->set(static_cast<double>(open_now));
}

void ServerMetrics::paused() {
  if (pauses_ != nullptr) pauses_->add();
}

void ServerMetrics::refused(int status) {
  if (refused_ != nullptr) refused_->with(std::to_string(status)).cell(worker_index_).add();
}

void ServerMetrics::set_shed_share(double share) {
  if (shed_share_ != nullptr) shed_share_->set(share);
}

}  // namespace sennit::http::detail
