#pragma once
// Resolver: from a host's name to its addresses, without blocking the worker.
//
//   Resolver resolver;
//   Result<std::vector<Address>> found = wait(resolver.resolve("example.org", 80, deadline));
//
// In this order, the first that knows the name answers:
//   1. a numeric IPv4 or IPv6 address, and localhost with what ends in .localhost (RFC 6761): at
//   once
//   2. ResolverOptions::table, for simulations and tests
//   3. /etc/hosts, read again when it has changed, looked at most every five seconds
//   4. the cache: by the TTL that servers said, within bounds; also that a name does not exist
//   5. DNS, by c-ares: both families, servers and search domains of /etc/resolv.conf. Calls for the
//      same name share one query.
// Of several addresses IPv6 and IPv4 take turns.
//
// Errors: invalid_argument for what cannot be a host name; not_found; timed_out at the deadline or
// when no server answers; malformed, unreachable, connection_refused of servers; limit_reached with
// too many queries or callers; cancelled.
//
// Thread safety: none; each worker has its own, made and destroyed on it, when nobody waits.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/net/address.hpp"
#include "sennit/net/hosts.hpp"
#include "sennit/net/name_cache.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::net {

namespace detail {
class AresChannel;
struct NameAnswer;
}  // namespace detail

struct ResolverOptions {
  /// Names that are known without asking, and their numeric addresses. Lower case.
  std::map<std::string, std::vector<std::string>> table;
  std::string hosts_file = "/etc/hosts";  // Empty: none. Beyond 1 MiB only its beginning counts.
  bool use_dns = true;                    // False: what is not known by 1 to 3 does not exist.
  std::vector<std::string> servers;       // "127.0.0.1:53"; empty: those of /etc/resolv.conf.
  Duration try_timeout = std::chrono::seconds(2);  // Of one question to one server.
  unsigned tries = 2;                              // Of each server.
  std::size_t addresses_max = 16;                  // Of one name; the rest is dropped.
  std::size_t queries_max = 256;                   // Names that are being asked for.
  std::size_t waiting_max = 4096;                  // Calls that wait for them.
  NameCache::Options cache = {};
};

class Resolver {
 public:
  class Lookup;

  explicit Resolver(ResolverOptions options = {});
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  /// Awaitable, Result<std::vector<Address>>, never empty; each with `port`.
  [[nodiscard]] Lookup resolve(std::string_view host, std::uint16_t port, Deadline deadline);

  /// Questions asked of DNS so far.
  [[nodiscard]] std::uint64_t query_count() const { return query_count_; }
  [[nodiscard]] std::size_t cached_count() const { return cache_.size(); }

 private:
  using Answer = Result<std::vector<Address>>;
  struct Flight;

  std::optional<Answer> find(const std::string& host);
  Result<Flight*> join_flight(const std::string& host);
  void landed(Flight& flight, Result<detail::NameAnswer> answer);
  const Hosts& hosts();

  const ResolverOptions options_;
  runtime::Worker& worker_;
  NameCache cache_;
  Hosts hosts_;
  TimePoint hosts_looked_at_ = TimePoint::min();
  std::int64_t hosts_changed_at_ = -1;  // The file's, in nanoseconds.
  std::map<std::string, std::unique_ptr<Flight>> flights_;
  std::size_t waiting_count_ = 0;
  std::uint64_t query_count_ = 0;
  std::unique_ptr<detail::AresChannel> channel_;  // Made at first use.
};

class Resolver::Lookup : public ListHook<Resolver::Lookup> {
 public:
  static constexpr const char* waits_for = "the addresses of a name";

  Lookup(Resolver& resolver, std::string_view host, std::uint16_t port, Deadline deadline);
  ~Lookup();
  bool ready();
  bool start(runtime::Waiter& waiter);
  void cancel();
  Result<std::vector<Address>> take();

 private:
  friend class Resolver;
  struct Expiry : runtime::Timer {
    explicit Expiry(Lookup& l);
    Lookup& lookup;
  };
  void end(Answer answer);

  Resolver& resolver_;
  std::string host_;
  const std::uint16_t port_;
  const Deadline deadline_;
  Expiry timer_;
  runtime::Waiter* waiter_ = nullptr;
  std::optional<Answer> answer_;
};

}  // namespace sennit::net
