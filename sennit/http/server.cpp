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
#include "sennit/net/listener.hpp"
#include "sennit/runtime/runtime.hpp"

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
  Running(const Router& router, const std::vector<std::shared_ptr<detail::Handler>>& handlers,
          const ServerOptions& options)
      : shared{.router = router,
               .handlers = handlers,
               .options = options,
               .connections_max_each = 0} {}
  ~Running() {
    if (stop_event >= 0) ::close(stop_event);
  }

  Result<void> start();
  Result<void> listen(const net::Address& wanted);
  void begin_drain();
  void drained(const detail::WorkerService::Drained& outcome);

  detail::Shared shared;
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
  SENNIT_TRY(const net::Address wanted, listen_address(options));
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
  if (wanted.is_unix() && wants.workers > 1) {
    return failure(Errc::unsupported,
                   "share " + wanted.to_string() + " among several workers (use --workers 1)");
  }
  shared.connections_max_each = std::max<std::size_t>(options.connections_max / wants.workers, 1);
  SENNIT_TRY(runtime, runtime::Runtime::start(wants));
  return listen(wanted);
}

// One listening socket for each worker; the kernel spreads connections over them. All are bound
// before any is served, so that a failure leaves nothing half open.
Result<void> Server::Running::listen(const net::Address& wanted) {
  std::vector<int> descriptors;
  const auto close_all = [&] {
    for (const int descriptor : descriptors) ::close(descriptor);
  };
  net::Address shared_address = wanted;
  const unsigned workers = runtime->worker_count();
  for (unsigned i = 0; i < workers; ++i) {
    // Alone it takes the address for itself, so that a second server is told.
    auto descriptor = net::open_listener(shared_address, {.reuse_port = workers > 1});
    if (!descriptor) {
      close_all();
      return failure(std::move(descriptor).error());
    }
    descriptors.push_back(*descriptor);
    auto bound = net::Address::local_of(*descriptor);
    if (!bound) {
      close_all();
      return failure(std::move(bound).error());
    }
    shared_address = *bound;  // The port that was chosen for 0 holds for the rest.
  }
  address = shared_address;
  for (unsigned i = 0; i < workers; ++i) {
    runtime::Worker& worker = runtime->worker(i);
    services.push_back(std::make_unique<detail::WorkerService>(worker, shared));
    auto listens = runtime->run([&] { return services[i]->listen(descriptors[i]); }, i);
    if (!listens) {
      log::error("worker {} does not listen: {}", i, listens.error().to_string());
      return listens;
    }
  }
  return {};
}

void Server::Running::begin_drain() {
  {
    const std::lock_guard lock(mutex);
    if (std::exchange(is_draining, true)) return;
  }
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

Server::Server() = default;
Server::~Server() { SENNIT_ASSERT(running_ == nullptr && "stop() and wait() for a Server first"); }

void Server::add(Method method, std::string_view pattern,
                 std::shared_ptr<detail::Handler> handler) {
  SENNIT_ASSERT(running_ == nullptr && "routes are added before the server starts");
  const Result<> added = router_.add(method, pattern, static_cast<std::uint32_t>(handlers_.size()));
  SENNIT_ASSERT(added.has_value(), added.error().to_string());
  handlers_.push_back(std::move(handler));
}

Result<void> Server::start(const ServerOptions& options) {
  SENNIT_ASSERT(running_ == nullptr);
  running_ = std::make_unique<Running>(router_, handlers_, options);
  Result<void> started = running_->start();
  if (!started) running_.reset();
  return started;
}

void Server::stop() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(running_->stop_event, &one, sizeof one);
  running_->begin_drain();
}

std::size_t Server::wait() {
  {
    std::unique_lock lock(running_->mutex);
    running_->changed.wait(
        lock, [&] { return running_->drained_count == running_->runtime->worker_count(); });
  }
  const detail::WorkerService::Drained total = running_->total;
  if (total.still_handling > 0) {
    // Their stacks and frames hold objects that only they can destroy: they keep all they need.
    [[maybe_unused]] Running* const abandoned = running_.release();
    return total.cut_off;
  }
  running_->runtime->stop();
  running_->services.clear();
  running_.reset();
  return total.cut_off;
}

std::uint16_t Server::port() const { return running_->address->port(); }

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
  std::fprintf(stdout, "listening on %s\n", running_->address->to_string().c_str());
  std::fflush(stdout);

  const int signal_event = ::signalfd(-1, &signals, SFD_CLOEXEC);
  pollfd events[] = {{.fd = signal_event, .events = POLLIN, .revents = 0},
                     {.fd = running_->stop_event, .events = POLLIN, .revents = 0}};
  while (::poll(events, 2, -1) < 0) {
  }
  signalfd_siginfo taken{};  // Or it would be delivered once it is no longer blocked.
  if (events[0].revents != 0) {
    [[maybe_unused]] const ssize_t bytes = ::read(signal_event, &taken, sizeof taken);
  }
  if (signal_event >= 0) ::close(signal_event);
  running_->begin_drain();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);  // A second signal ends the process.
  const std::size_t cut_off = wait();
  if (cut_off > 0) {
    std::fflush(nullptr);
    ::_exit(1);  // Handlers may still be running; destructors below them would race.
  }
  return 0;
}

}  // namespace sennit::http
