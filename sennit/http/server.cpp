#include "sennit/http/server.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"
#include "sennit/http/detail/worker_service.hpp"
#include "sennit/net/address.hpp"
#include "sennit/net/inherited.hpp"
#include "sennit/net/listener.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::http {
namespace {

// Every connection is a descriptor; the soft limit is only a default.
std::size_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  const rlimit raised{.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit.rlim_cur = limit.rlim_max;
  return static_cast<std::size_t>(limit.rlim_cur);
}

Result<net::Address> listen_address(const ServerOptions& options) {
  if (options.host.starts_with("unix:")) return net::Address::parse(options.host);
  return net::Address::from_host(options.host, options.port);
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

// What exists between start() and the end of wait().
struct Server::Running {
  Running(detail::RouteTable& table, const Routes& root, const ServerOptions& options,
          std::shared_ptr<std::atomic<bool>> ready)
      : shared{.router = table.router(),
               .state = table.state(),
               .routes = table.served(root, {.body_bytes_max = options.body_bytes_max,
                                             .stream_bytes_max = options.stream_bytes_max,
                                             .timeout = options.handler_timeout}),
               .options = options},
        is_ready(std::move(ready)) {}
  ~Running() {
    if (stop_event >= 0) ::close(stop_event);
  }

  Result<void> start();
  Result<void> set_up_metrics();
  Result<std::vector<int>> open_listeners(const net::Address& wanted);
  Result<std::vector<int>> duplicate_listeners();
  Result<void> listen(const std::vector<int>& descriptors);
  void begin_drain();
  void drained(const detail::WorkerService::Drained& outcome);

  detail::Shared shared;
  std::shared_ptr<std::atomic<bool>> is_ready;
  std::unique_ptr<metrics::Registry> own_registry;
  std::optional<metrics::GoldenSignals> signals;
  std::optional<net::Address> address;  // Once listening.
  std::unique_ptr<runtime::Runtime> runtime;
  std::vector<std::unique_ptr<detail::WorkerService>> services;
  int stop_event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

  std::mutex mutex;  // Guards the rest.
  std::condition_variable changed;
  bool is_draining = false;
  std::size_t drained_count = 0;
  detail::WorkerService::Drained total;
};

Result<void> Server::Running::start() {
  ServerOptions& options = shared.options;
  if (options.listeners.empty() && options.inherits_listeners) {
    SENNIT_TRY(options.listeners, net::inherited_listeners());
  }
  const std::size_t file_limit = raise_file_limit();
  if (options.connections_max == 0) options.connections_max = file_limit / 5 * 4;
  runtime::RuntimeOptions wants;
  wants.workers =
      options.workers != 0 ? options.workers : std::max(1U, std::thread::hardware_concurrency());
  wants.backend = options.backend;
  wants.backend_options = options.backend_options;
  wants.pin = options.pin;
  wants.stacks.usable_bytes = options.fiber_stack_bytes;
  wants.stacks.on_loan_max = options.fibers_max;
  shared.connections_max_each = std::max<std::size_t>(options.connections_max / wants.workers, 1);
  shared.in_flight_max_each = std::max<std::size_t>(options.in_flight_max / wants.workers, 1);
  std::optional<net::Address> wanted;
  if (options.listeners.empty()) {
    SENNIT_TRY(wanted, listen_address(options));
  }
  SENNIT_TRY(runtime, runtime::Runtime::start(wants));
  if (auto set_up = set_up_metrics(); !set_up) return set_up;
  SENNIT_TRY(const std::vector<int> descriptors,
             wanted ? open_listeners(*wanted) : duplicate_listeners());
  return listen(descriptors);
}

Result<void> Server::Running::set_up_metrics() {
  const unsigned workers = runtime->worker_count();
  shared.registry = shared.options.registry;
  if (shared.registry == nullptr) {
    own_registry = std::make_unique<metrics::Registry>(
        metrics::Registry::Options{.slots = workers, .series_max = 10'000});
    shared.registry = own_registry.get();
  }
  if (shared.registry->slots() < workers) {
    return failure(Errc::invalid_argument, "count in a registry with fewer slots than workers");
  }
  signals.emplace(*shared.registry,
                  metrics::GoldenSignalsOptions{.prefix = "http_server", .operation = "route"});
  signals->set_in_flight_limit(shared.options.in_flight_max);
  shared.signals = &*signals;
  return {};
}

// One listening socket for each worker; the kernel spreads connections over them. A Unix socket has
// one path, so there the workers share one. All are bound before any is served, so that a failure
// leaves nothing half open.
Result<std::vector<int>> Server::Running::open_listeners(const net::Address& wanted) {
  std::vector<int> descriptors;
  runtime::io::Backend& backend = runtime->worker(0).backend();
  const auto fail = [&](Error error) {
    for (const int descriptor : descriptors) net::discard(backend, descriptor);
    return failure(std::move(error));
  };
  net::Address shared_address = wanted;
  const unsigned workers = runtime->worker_count();
  for (unsigned i = 0; i < workers; ++i) {
    // Alone it takes the address for itself, so that a second server is told.
    auto descriptor = wanted.is_unix() && i > 0 ? net::duplicate_listener(descriptors.front())
                                                : net::open_listener(backend, shared_address,
                                                                     {.reuse_port = workers > 1});
    if (!descriptor) return fail(std::move(descriptor).error());
    descriptors.push_back(*descriptor);
    auto bound = net::local_address(backend, *descriptor);
    if (!bound) return fail(std::move(bound).error());
    shared_address = *bound;  // The port that was chosen for 0 holds for the rest.
  }
  address = shared_address;
  return descriptors;
}

Result<std::vector<int>> Server::Running::duplicate_listeners() {
  const std::vector<int>& given = shared.options.listeners;
  const std::size_t count = std::max<std::size_t>(runtime->worker_count(), given.size());
  if (given.size() > runtime->worker_count()) {
    return failure(Errc::limit_reached, "serve more listening sockets than there are workers");
  }
  std::vector<int> descriptors;
  for (std::size_t i = 0; i < count; ++i) {
    auto descriptor = net::duplicate_listener(given[i % given.size()]);
    if (!descriptor) {
      for (const int own : descriptors) ::close(own);
      return failure(std::move(descriptor).error());
    }
    descriptors.push_back(*descriptor);
  }
  SENNIT_TRY(address, net::Address::local_of(given.front()));
  shared.keeps_listeners = true;
  return descriptors;
}

Result<void> Server::Running::listen(const std::vector<int>& descriptors) {
  for (unsigned i = 0; i < runtime->worker_count(); ++i) {
    runtime::Worker& worker = runtime->worker(i);
    services.push_back(std::make_unique<detail::WorkerService>(worker, shared));
    auto listens = runtime->run([&] { return services[i]->listen(descriptors[i]); }, i);
    if (!listens) {
      log::error("worker {} does not listen: {}", i, listens.error().to_string());
      return listens;
    }
  }
  is_ready->store(true);
  return {};
}

void Server::Running::begin_drain() {
  {
    const std::lock_guard lock(mutex);
    if (std::exchange(is_draining, true)) return;
  }
  is_ready->store(false);
  log::info(
      "stopping: finishing what has begun, for at most {} ms",
      std::chrono::duration_cast<std::chrono::milliseconds>(shared.options.drain_timeout).count());
  for (unsigned i = 0; i < runtime->worker_count(); ++i) {
    runtime->worker(i).post([this, i] {
      services[i]->drain(
          [this](const detail::WorkerService::Drained& outcome) { drained(outcome); });
    });
  }
}

void Server::Running::drained(const detail::WorkerService::Drained& outcome) {
  const std::lock_guard lock(mutex);
  ++drained_count;
  total.cut_off += outcome.cut_off;
  total.still_handling += outcome.still_handling;
  changed.notify_all();
}

detail::RouteTableOwner::RouteTableOwner() : owned_table(std::make_unique<RouteTable>()) {}
detail::RouteTableOwner::~RouteTableOwner() = default;

Server::Server() : Routes(*owned_table) {}
Server::~Server() { SENNIT_ASSERT(running_ == nullptr && "stop() and wait() for a Server first"); }

StateMap& Server::state() {
  SENNIT_ASSERT(!owned_table->is_frozen() && "state is provided before the server starts");
  return owned_table->state();
}

std::shared_ptr<Server::Running> Server::running() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

void Server::readiness(std::string_view pattern) {
  get(pattern, [ready = is_ready_](Request&) {
    if (ready->load()) return text("ready\n");
    return text(Status::service_unavailable, "stopping\n");
  }).always_served();
}

Result<void> Server::start(const ServerOptions& options) {
  SENNIT_ASSERT(running() == nullptr);
  owned_table->freeze();
  auto starting = std::make_shared<Running>(*owned_table, *this, options, is_ready_);
  if (Result<void> started = starting->start(); !started) {
    owned_table->thaw();
    return started;
  }
  const std::lock_guard lock(mutex_);
  running_ = std::move(starting);
  return {};
}

void Server::stop() {
  const auto running = this->running();
  if (running == nullptr) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(running->stop_event, &one, sizeof one);
  running->begin_drain();
}

std::size_t Server::wait() {
  const auto running = this->running();
  SENNIT_ASSERT(running != nullptr);
  const auto is_drained = [&] {
    return running->drained_count == running->runtime->worker_count();
  };
  if (auto* const kernel = running->runtime->simulated_kernel()) {
    kernel->run_until(is_drained);  // There is no other thread to wait for.
  } else {
    std::unique_lock lock(running->mutex);
    running->changed.wait(lock, is_drained);
  }
  const detail::WorkerService::Drained total = running->total;
  {
    const std::lock_guard lock(mutex_);
    running_.reset();
  }
  if (total.still_handling > 0) {
    // Their stacks and frames hold objects that only they can destroy: they keep all they need.
    [[maybe_unused]] auto* const abandoned = new std::shared_ptr<Running>(running);
    return total.cut_off;
  }
  running->runtime->stop();
  running->services.clear();
  running->runtime.reset();
  owned_table->thaw();
  return total.cut_off;
}

std::uint16_t Server::port() const { return running()->address->port(); }

metrics::Registry& Server::registry() const { return *running()->shared.registry; }

int Server::run(const ServerOptions& options) {
  // Blocked before the workers start, so that they inherit it and the signals come here.
  const sigset_t signals = stop_signals();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  if (const Result<void> started = start(options); !started) {
    std::fprintf(stderr, "cannot start: could not %s\n", started.error().to_string().c_str());
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return 1;
  }
  const auto running = this->running();
  std::fprintf(stdout, "listening on %s\n", running->address->to_string().c_str());
  std::fflush(stdout);

  const int signal_event = ::signalfd(-1, &signals, SFD_CLOEXEC);
  pollfd events[] = {{.fd = signal_event, .events = POLLIN, .revents = 0},
                     {.fd = running->stop_event, .events = POLLIN, .revents = 0}};
  while (::poll(events, 2, -1) < 0) {
  }
  signalfd_siginfo taken{};  // Or it would be delivered once it is no longer blocked.
  if (events[0].revents != 0) {
    [[maybe_unused]] const ssize_t bytes = ::read(signal_event, &taken, sizeof taken);
  }
  if (signal_event >= 0) ::close(signal_event);
  running->begin_drain();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);  // A second signal ends the process.
  const std::size_t cut_off = wait();
  if (cut_off > 0) {
    std::fflush(nullptr);
    ::_exit(1);  // Handlers may still be running; destructors below them would race.
  }
  return 0;
}

}  // namespace sennit::http
