#include "sennit/net/detail/ares_channel.hpp"

#include <algorithm>
#include <ares.h>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::net::detail {
namespace {

using runtime::Worker;
using runtime::io::Backend;
using runtime::io::Completion;
using runtime::io::Interest;
using runtime::io::Operation;

Errc code_of(int status) {
  switch (status) {
    case ARES_ENOTFOUND:
    case ARES_ENODATA:
      return Errc::not_found;
    case ARES_ETIMEOUT:
      return Errc::timed_out;
    case ARES_ECONNREFUSED:
      return Errc::connection_refused;
    case ARES_ENOMEM:
      return Errc::out_of_memory;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION:
      return Errc::cancelled;
    case ARES_EFORMERR:
    case ARES_EBADRESP:
      return Errc::malformed;
    case ARES_EBADNAME:
    case ARES_EBADQUERY:
    case ARES_EBADSTR:
      return Errc::invalid_argument;
    default:
      return Errc::unreachable;
  }
}

// IPv6 and IPv4 in turn (RFC 8305, section 4), each family in the server's order, so that a broken
// family costs one try. A server that sends thousands is cut short.
NameAnswer answer_of(const ares_addrinfo& found, std::size_t addresses_max) {
  std::vector<Address> families[2];
  int ttl = INT_MAX;
  for (const ares_addrinfo_node* node = found.nodes; node != nullptr; node = node->ai_next) {
    const auto address = Address::from_sockaddr(node->ai_addr, node->ai_addrlen);
    if (!address || address->is_unix()) continue;
    ttl = std::min(ttl, node->ai_ttl);
    std::vector<Address>& family = families[address->family() == AF_INET6 ? 0 : 1];
    const Address plain = address->with_port(0);
    const bool is_new = std::ranges::find(family, plain) == family.end();
    if (family.size() < addresses_max && is_new) family.push_back(plain);
  }
  for (const ares_addrinfo_cname* cname = found.cnames; cname != nullptr; cname = cname->next) {
    ttl = std::min(ttl, cname->ttl);
  }
  NameAnswer answer;
  for (std::size_t i = 0; i < addresses_max; ++i) {
    for (const std::vector<Address>& family : families) {
      if (i < family.size() && answer.addresses.size() < addresses_max) {
        answer.addresses.push_back(family[i]);
      }
    }
  }
  answer.ttl = std::chrono::seconds(std::max(ttl, 0));
  return answer;
}

bool library_is_ready() {
  static const bool is_ready = ::ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
  return is_ready;
}

}  // namespace

struct AresChannel::Impl {
  // One socket of c-ares. We watch a duplicate, which stays open until our last completion however
  // soon c-ares closes its own. Lives until c-ares has let go and nothing is in flight.
  struct Watch : Operation {
    Watch(Impl& i, int s, int d)
        : Operation([](Operation& operation, const Completion& completion) {
            static_cast<Watch&>(operation).completed(completion.result);
          }),
          impl(&i),
          socket(s),
          duplicate(d) {}
    ~Watch() { ::close(duplicate); }

    void want(Interest interest) {
      wanted = interest;
      if (is_handling) return;  // Armed when that has ended.
      if (!in_flight()) {
        arm();
      } else if (wanted.readable != armed.readable || wanted.writable != armed.writable) {
        impl->worker.backend().cancel(*this);  // And armed anew by its completion.
      }
    }
    // A backend that cannot watch leaves it to the timeouts.
    void arm() {
      armed = wanted;
      [[maybe_unused]] const bool is_done = impl->worker.backend().watch(*this, duplicate, wanted);
    }
    void let_go() {
      Worker& home = impl->worker;
      impl = nullptr;
      if (in_flight()) {
        home.backend().cancel(*this);
      } else if (!is_handling) {
        delete this;
      }
    }
    void completed(int result) {
      if (impl == nullptr) {
        delete this;
        return;
      }
      if (result > 0) {
        is_handling = true;
        impl->process((result & Backend::watched_readable) != 0 ? socket : ARES_SOCKET_BAD,
                      (result & Backend::watched_writable) != 0 ? socket : ARES_SOCKET_BAD);
        is_handling = false;
        if (impl == nullptr) {
          delete this;
          return;
        }
      }
      if (result > 0 || result == -ECANCELED) arm();
    }

    Impl* impl;  // Null once c-ares has let go of the socket.
    const int socket;
    const int duplicate;
    Interest wanted, armed;
    bool is_handling = false;
  };
  struct Tick : runtime::Timer {
    explicit Tick(Impl& i)
        : Timer([](Timer& timer) {
            static_cast<Tick&>(timer).impl.process(ARES_SOCKET_BAD, ARES_SOCKET_BAD);
          }),
          impl(i) {}
    Impl& impl;
  };
  struct Query {
    Impl& impl;
    std::string name;
    Done done;
  };

  Impl(Worker& w, const AresOptions& o) : worker(w), options(o), tick(*this) {}
  ~Impl() {
    if (is_open) ::ares_destroy(channel);
    SENNIT_ASSERT(watches.empty(), watches.size());
  }

  Result<void> open() {
    if (!library_is_ready()) return failure(Errc::out_of_memory, "initialise c-ares");
    ares_options wanted{};
    int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB;
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(options.try_timeout).count();
    wanted.timeout = static_cast<int>(std::clamp<std::int64_t>(milliseconds, 1, 60'000));
    wanted.tries = static_cast<int>(std::clamp(options.tries, 1U, 10U));
    char only_dns[] = "b";
    wanted.lookups = only_dns;
    wanted.sock_state_cb = &Impl::socket_changed;
    wanted.sock_state_cb_data = this;
    if (!options.servers.empty()) mask |= ARES_OPT_DOMAINS;  // None: names are asked for as given.
#ifdef ARES_OPT_QUERY_CACHE
    mask |= ARES_OPT_QUERY_CACHE;  // Of size zero: the cache is ours.
#endif
    int status = ::ares_init_options(&channel, &wanted, mask);
    if (status != ARES_SUCCESS) return ares_failure(status, "start a resolver");
    is_open = true;
    if (options.servers.empty()) return {};
    std::string list;
    for (const std::string& server : options.servers) list += (list.empty() ? "" : ",") + server;
    status = ::ares_set_servers_ports_csv(channel, list.c_str());
    if (status == ARES_SUCCESS) return {};
    return failure(Errc::invalid_argument, "use the name servers '" + list + "'");
  }

  static std::unexpected<Error> ares_failure(int status, const std::string& doing) {
    return failure(code_of(status), doing + " (" + ::ares_strerror(status) + ")");
  }

  static void socket_changed(void* self, ares_socket_t socket, int readable, int writable) {
    static_cast<Impl*>(self)->socket_changed(socket, readable != 0, writable != 0);
  }
  void socket_changed(ares_socket_t socket, bool readable, bool writable) {
    const auto found = watches.find(socket);
    if (!readable && !writable) {
      if (found == watches.end()) return;
      Watch* const watch = found->second;
      watches.erase(found);
      return watch->let_go();
    }
    if (found != watches.end()) return found->second->want({readable, writable});
    const int duplicate = ::fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0) return;  // Out of descriptors: the query times out.
    auto* const watch = new Watch(*this, socket, duplicate);
    watches.emplace(socket, watch);
    watch->want({readable, writable});
  }

  void process(ares_socket_t readable, ares_socket_t writable) {
    ::ares_process_fd(channel, readable, writable);
    arm_tick();
  }
  void arm_tick() {
    timeval room{};
    const timeval* const next = ::ares_timeout(channel, nullptr, &room);
    if (next == nullptr) return tick.disarm();
    const Duration delay =
        std::chrono::seconds(next->tv_sec) + std::chrono::microseconds(next->tv_usec);
    worker.timers().arm(tick, worker.clock().now() + delay + std::chrono::milliseconds(1));
  }

  static void answered(void* query, int status, int, ares_addrinfo* found) {
    const std::unique_ptr<Query> self(static_cast<Query*>(query));
    Result<NameAnswer> answer;
    if (status == ARES_SUCCESS && found != nullptr) {
      answer = answer_of(*found, self->impl.options.addresses_max);
      if (answer->addresses.empty()) status = ARES_ENODATA;
    }
    if (found != nullptr) ::ares_freeaddrinfo(found);
    if (status != ARES_SUCCESS) answer = ares_failure(status, "resolve " + self->name);
    self->done(std::move(answer));
  }

  Worker& worker;
  const AresOptions options;
  ares_channel channel = nullptr;
  bool is_open = false;
  std::map<ares_socket_t, Watch*> watches;
  Tick tick;
};

AresChannel::AresChannel(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
AresChannel::~AresChannel() = default;

Result<std::unique_ptr<AresChannel>> AresChannel::make(const AresOptions& options) {
  auto impl = std::make_unique<Impl>(Worker::here(), options);
  if (auto opened = impl->open(); !opened) return failure(std::move(opened).error());
  return std::unique_ptr<AresChannel>(new AresChannel(std::move(impl)));
}

void AresChannel::look_up(const std::string& name, Done done) {
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = ARES_AI_NOSORT;  // Sorting would open a socket for each address.
  auto* const query = new Impl::Query{*impl_, name, std::move(done)};
  ::ares_getaddrinfo(impl_->channel, name.c_str(), nullptr, &hints, &Impl::answered, query);
  impl_->arm_tick();
}

}  // namespace sennit::net::detail
