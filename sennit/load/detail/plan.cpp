#include "sennit/load/detail/plan.hpp"

#include <algorithm>
#include <memory>
#include <netdb.h>
#include <optional>
#include <sys/resource.h>
#include <sys/socket.h>

#include "sennit/base/buffer.hpp"
#include "sennit/http/h1/serializer.hpp"

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

Result<std::string> make_request(const Options& options) {
  http::Headers headers;
  std::string connection;  // The serializer leaves this one to its caller.
  for (const http::Header header : options.headers) {
    if (auto added = headers.add(header.name, header.value); !added) {
      return failure(std::move(added).error());
    }
  }
  for (const char* framing : {"Content-Length", "Transfer-Encoding"}) {
    if (headers.contains(framing)) {
      return failure(Errc::invalid_argument,
                     std::string("set the header ") + framing + " (it follows from the body)");
    }
  }
  if (const auto value = headers.get("Connection")) {
    connection = "Connection: " + std::string(*value) + "\r\n";
  }
  const std::string host(headers.get("Host").value_or(options.url.authority()));
  const auto length = options.body.empty() ? std::nullopt : std::optional(options.body.size());
  Buffer head;
  if (auto written = http::h1::write_request_head(head, options.method, options.url.target(), host,
                                                  headers, length);
      !written) {
    return failure(std::move(written).error());
  }
  std::string_view before_empty_line = head.view();
  before_empty_line.remove_suffix(2);
  return std::string(before_empty_line) + connection + "\r\n" + options.body;
}

}  // namespace

Result<Plan> make_plan(const Options& options) {
  if (options.connections == 0 || options.workers == 0 || options.workers > options.connections) {
    return failure(Errc::invalid_argument, "drive " + std::to_string(options.connections) +
                                               " connections with " +
                                               std::to_string(options.workers) +
                                               " threads (each thread needs one at least)");
  }
  if (options.duration <= Duration::zero() || options.timeout <= Duration::zero()) {
    return failure(Errc::invalid_argument, "run with a duration or a timeout of zero");
  }
  if (options.method == "CONNECT") {
    return failure(Errc::invalid_argument, "load with CONNECT (there is no tunnel to use)");
  }
  SENNIT_TRY(std::string request, make_request(options));
  SENNIT_TRY(const net::Address address, resolve(options.url.host(), options.url.port()));
  return Plan{address, std::move(request), http::method_from_string(options.method),
              options.duration, options.timeout};
}

Result<void> allow_connections(std::uint32_t connections) {
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
