#include "sennit/load/detail/plan.hpp"

#include <algorithm>
#include <memory>
#include <netdb.h>
#include <optional>
#include <sys/resource.h>
#include <sys/socket.h>

namespace sennit::load::detail {
namespace {

Result<net::Address> resolve(const std::string& host, std::uint16_t port) {
  if (auto numeric = net::Address::from_host(host, port)) return numeric;
  const std::string doing = "look up the host '" + host + "'";
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  if (const int refused = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); refused != 0) {
    return failure(Errc::not_found, doing + " (" + ::gai_strerror(refused) + ")");
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(found, &::freeaddrinfo);
  char numeric[NI_MAXHOST] = {};
  if (::getnameinfo(found->ai_addr, found->ai_addrlen, numeric, sizeof numeric, nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return failure(Errc::not_found, doing);
  }
  return net::Address::from_host(numeric, port);
}

Result<std::vector<PlannedRequest>> make_requests(const Options& options) {
  PlannedRequest::Text text;
  text.method = options.method;
  text.target = options.url.target();
  text.host = options.headers.get("Host").value_or(options.url.authority());
  text.headers = options.headers;
  text.body = options.body;
  std::vector<PlannedRequest> requests;
  if (options.mix.empty()) {
    SENNIT_TRY(PlannedRequest request, PlannedRequest::make(text));
    requests.push_back(std::move(request));
  }
  for (const MixEntry& entry : options.mix) {
    text.has_variables = true;
    text.method = entry.method;
    text.target = entry.path;
    text.body = entry.body;
    text.headers = options.headers;
    for (const auto& [name, value] : entry.headers) {
      if (auto set = text.headers.set(name, value); !set) return failure(std::move(set).error());
    }
    SENNIT_TRY(PlannedRequest request, PlannedRequest::make(text));
    requests.push_back(std::move(request));
  }
  return requests;
}

Result<void> check_rate(const Options& options) {
  for (const Schedule::Segment& segment : options.rate) {
    const bool is_possible = segment.length > Duration::zero() && segment.from >= 0 &&
                             segment.to >= 0 && segment.from <= Schedule::rate_max &&
                             segment.to <= Schedule::rate_max;
    if (!is_possible) return failure(Errc::invalid_argument, "follow a rate that makes no sense");
  }
  if (!options.rate.empty() && options.rate.back().to <= 0) {
    return failure(Errc::invalid_argument, "end with a rate of zero (the last rate goes on)");
  }
  return {};
}

Result<void> check(const Options& options) {
  if (options.connections == 0 || options.workers == 0 || options.workers > options.connections) {
    return failure(Errc::invalid_argument, "drive " + std::to_string(options.connections) +
                                               " connections with " +
                                               std::to_string(options.workers) +
                                               " threads (each thread needs one at least)");
  }
  if (options.duration <= Duration::zero() || options.timeout <= Duration::zero() ||
      options.warm_up < Duration::zero()) {
    return failure(Errc::invalid_argument, "run with a duration or a timeout of zero");
  }
  constexpr std::uint32_t pipeline_max = 1024;
  if (options.pipeline == 0 || options.pipeline > pipeline_max) {
    return failure(Errc::invalid_argument, "pipeline " + std::to_string(options.pipeline) +
                                               " requests (1 to 1024 may be unanswered)");
  }
  return check_rate(options);
}

}  // namespace

const PlannedRequest& Plan::choose(Random& random) const {
  if (requests.size() == 1) return requests.front();
  const std::uint64_t drawn = random.below(weights.back());
  const auto found = std::ranges::upper_bound(weights, drawn);
  return requests[static_cast<std::size_t>(found - weights.begin())];
}

Result<Plan> make_plan(const Options& options) {
  if (auto sensible = check(options); !sensible) return failure(std::move(sensible).error());
  SENNIT_TRY(std::vector<PlannedRequest> requests, make_requests(options));
  std::vector<std::uint64_t> weights;
  for (const MixEntry& entry : options.mix) {
    weights.push_back((weights.empty() ? 0 : weights.back()) + entry.weight);
  }
  if (!weights.empty() && weights.back() == 0) {
    return failure(Errc::invalid_argument, "choose from a mix whose weights are all zero");
  }
  SENNIT_TRY(const net::Address address, options.unix_socket.empty()
                                             ? resolve(options.url.host(), options.url.port())
                                             : net::Address::parse("unix:" + options.unix_socket));
  return Plan{
      .address = address,
      .requests = std::move(requests),
      .weights = std::move(weights),
      .schedule = options.rate.empty() ? nullptr : std::make_unique<const Schedule>(options.rate),
      .connections = options.connections,
      .pipeline = options.pipeline,
      .requests_per_connection = options.requests_per_connection,
      .warm_up = options.warm_up,
      .duration = options.warm_up + options.duration,
      .timeout = options.timeout,
      .lag_max = options.lag_max,
      .workers = options.workers,
      .seed = options.seed};
}

Result<void> allow_connections(std::uint64_t connections) {
  constexpr rlim_t other_files = 64;  // Standard streams, backends, what the program has open.
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  limit.rlim_cur = std::max(limit.rlim_cur, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= connections + other_files) return {};
  return failure(Errc::limit_reached, "open " + std::to_string(connections) +
                                          " connections (only " + std::to_string(limit.rlim_cur) +
                                          " files may be open: raise it with ulimit -n)");
}

}  // namespace sennit::load::detail
