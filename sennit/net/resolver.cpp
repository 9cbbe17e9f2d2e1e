#include "sennit/net/resolver.hpp"

#include <algorithm>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/net/detail/ares_channel.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::net {
namespace {

constexpr std::size_t hosts_bytes_max = std::size_t{1024} * 1024;
constexpr Duration hosts_interval = std::chrono::seconds(5);

// What DNS could hold (RFC 1035, 2.3.4), with the underscore that many names have.
bool is_host_name(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);  // Fully qualified: no search domain is tried.
  constexpr std::size_t host_bytes_max = 253, label_bytes_max = 63;
  if (host.empty() || host.size() > host_bytes_max) return false;
  std::size_t label = 0;
  for (const char c : host) {
    if (c == '.') {
      if (label == 0) return false;
      label = 0;
      continue;
    }
    const bool is_allowed =
        (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!is_allowed || ++label > label_bytes_max) return false;
  }
  return true;
}

bool is_loopback_name(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost");
}

std::string read_beginning(const std::string& path, std::size_t bytes_max) {
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return text;
  text.resize(bytes_max);
  std::size_t size = 0;
  while (size < bytes_max) {
    const ssize_t bytes = ::read(file, text.data() + size, bytes_max - size);
    if (bytes <= 0) break;
    size += static_cast<std::size_t>(bytes);
  }
  ::close(file);
  text.resize(size);
  return text;
}

}  // namespace

struct Resolver::Flight {
  explicit Flight(std::string n) : name(std::move(n)) {}
  const std::string name;
  IntrusiveList<Lookup> waiting;
  bool is_asked = false;
};

Resolver::Resolver(ResolverOptions options)
    : options_(std::move(options)), worker_(runtime::Worker::here()), cache_(options_.cache) {}

Resolver::~Resolver() {
  for (const auto& [name, flight] : flights_) {
    SENNIT_ASSERT(flight->waiting.empty() && "somebody still waits for a name", name);
  }
  channel_.reset();  // Lands every flight.
}

Resolver::Lookup Resolver::resolve(std::string_view host, std::uint16_t port, Deadline deadline) {
  return {*this, host, port, deadline};
}

const Hosts& Resolver::hosts() {
  const TimePoint now = worker_.now();
  if (hosts_looked_at_ != TimePoint::min() && now - hosts_looked_at_ < hosts_interval) {
    return hosts_;
  }
  hosts_looked_at_ = now;
  struct stat found{};
  if (::stat(options_.hosts_file.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) {
    hosts_ = Hosts();
    hosts_changed_at_ = -1;
    return hosts_;
  }
  const std::int64_t changed_at =
      std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec;
  if (changed_at != hosts_changed_at_) {
    hosts_ = Hosts::parse(read_beginning(options_.hosts_file, hosts_bytes_max));
    hosts_changed_at_ = changed_at;
  }
  return hosts_;
}

// What is known without asking anybody.
std::optional<Resolver::Answer> Resolver::find(const std::string& host) {
  if (is_loopback_name(host)) {
    return std::vector<Address>{*Address::from_host("127.0.0.1", 0), *Address::from_host("::1", 0)};
  }
  if (!host.empty()) {
    if (const auto numeric = Address::from_host(host, 0)) return std::vector<Address>{*numeric};
  }
  if (!is_host_name(host)) {
    return failure(Errc::invalid_argument, "resolve '" + host + "' (not a host name)");
  }
  if (const auto row = options_.table.find(host); row != options_.table.end()) {
    std::vector<Address> addresses;
    for (const std::string& text : row->second) {
      SENNIT_TRY(const Address address, Address::from_host(text, 0));
      addresses.push_back(address);
    }
    if (addresses.empty()) return failure(Errc::not_found, "resolve " + host);
    return addresses;
  }
  if (!options_.hosts_file.empty()) {
    if (const auto& known = hosts().find(host); !known.empty()) return known;
  }
  if (!options_.use_dns) return failure(Errc::not_found, "resolve " + host);
  return cache_.find(host, worker_.now());
}

Result<Resolver::Flight*> Resolver::join_flight(const std::string& host) {
  const auto found = flights_.find(host);
  if (found != flights_.end()) return found->second.get();
  if (flights_.size() >= options_.queries_max) {
    return failure(Errc::limit_reached, "resolve " + host + " (too many names at once)");
  }
  if (channel_ == nullptr) {
    detail::AresOptions wanted;
    wanted.servers = options_.servers;
    wanted.try_timeout = options_.try_timeout;
    wanted.tries = options_.tries;
    wanted.addresses_max = options_.addresses_max;
    SENNIT_TRY(channel_, detail::AresChannel::make(wanted));
  }
  return flights_.emplace(host, std::make_unique<Flight>(host)).first->second.get();
}

void Resolver::landed(Flight& flight, Result<detail::NameAnswer> answer) {
  const TimePoint now = worker_.now();
  Answer result = answer ? Answer(answer->addresses) : Answer(failure(answer.error()));
  if (answer) {
    cache_.put(flight.name, answer->addresses, answer->ttl, now);
  } else if (answer.error().code() == Errc::not_found) {
    cache_.put_absent(flight.name, now);
  }
  while (!flight.waiting.empty()) flight.waiting.front().end(result);
  flights_.erase(flights_.find(flight.name));
}

Resolver::Lookup::Expiry::Expiry(Lookup& l)
    : Timer([](Timer& timer) {
        Lookup& lookup = static_cast<Expiry&>(timer).lookup;
        lookup.end(failure(Errc::timed_out, "resolve " + lookup.host_));
      }),
      lookup(l) {}

Resolver::Lookup::Lookup(Resolver& resolver, std::string_view host, std::uint16_t port,
                         Deadline deadline)
    : resolver_(resolver),
      host_(lower_case(host)),
      port_(port),
      deadline_(deadline),
      timer_(*this) {}

Resolver::Lookup::~Lookup() {
  SENNIT_ASSERT(!is_linked() && "a Lookup must not be destroyed while it waits");
}

bool Resolver::Lookup::ready() {
  if (!answer_) answer_ = resolver_.find(host_);
  return answer_.has_value();
}

bool Resolver::Lookup::start(runtime::Waiter& waiter) {
  if (deadline_.expired(resolver_.worker_.now())) {
    answer_ = failure(Errc::timed_out, "resolve " + host_);
    return false;
  }
  if (resolver_.waiting_count_ >= resolver_.options_.waiting_max) {
    answer_ = failure(Errc::limit_reached, "resolve " + host_ + " (too many calls wait)");
    return false;
  }
  Result<Flight*> flight = resolver_.join_flight(host_);
  if (!flight) {
    answer_ = failure(std::move(flight).error());
    return false;
  }
  const bool is_new = !std::exchange((*flight)->is_asked, true);
  waiter_ = &waiter;
  (*flight)->waiting.push_back(*this);
  ++resolver_.waiting_count_;
  if (!deadline_.is_never()) resolver_.worker_.timers().arm(timer_, deadline_.instant());
  if (is_new) {
    ++resolver_.query_count_;
    // It may land at once, and end us.
    resolver_.channel_->look_up(host_, [&resolver = resolver_, landing = *flight](auto answer) {
      resolver.landed(*landing, std::move(answer));
    });
  }
  return true;
}

void Resolver::Lookup::end(Answer answer) {
  if (!is_linked()) return;
  timer_.disarm();
  unlink();
  --resolver_.waiting_count_;
  answer_ = std::move(answer);
  std::exchange(waiter_, nullptr)->wake();
}

void Resolver::Lookup::cancel() { end(failure(Errc::cancelled, "resolve " + host_)); }

Result<std::vector<Address>> Resolver::Lookup::take() {
  SENNIT_ASSERT(answer_.has_value());
  Answer answer = *std::move(answer_);
  if (answer) {
    for (Address& address : *answer) address = address.with_port(port_);
  }
  return answer;
}

}  // namespace sennit::net
