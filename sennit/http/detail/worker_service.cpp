#include "sennit/http/detail/worker_service.hpp"

#include <algorithm>
#include <unistd.h>
#include <utility>

#include "sennit/base/log.hpp"
#include "sennit/http/h1/serializer.hpp"
#include "sennit/net/listener.hpp"

namespace sennit::http::detail {
namespace {

using namespace std::chrono_literals;

// How long accepting rests when the process is out of descriptors or connections.
constexpr Duration accept_pause = 50ms;
// From refusing new connections to closing the listening socket: time for handshakes to complete.
constexpr Duration listener_grace = 100ms;
constexpr Duration probe_interval = 10ms;
constexpr std::size_t idle_exchanges_max = 1024;
constexpr std::size_t idle_buffers_max = 1024;
constexpr std::size_t idle_buffer_bytes_max = 64 * 1024;

}  // namespace

WorkerService::Accepting::Accepting(WorkerService& s)
    : Operation([](Operation& operation, const runtime::io::Completion& completion) {
        static_cast<Accepting&>(operation).service.accepted(completion);
      }),
      service(s) {}

WorkerService::WorkerService(runtime::Worker& worker, const Shared& shared)
    : worker_(worker),
      shared_(shared),
      accepting_(*this),
      accept_timer_(*this,
                    [](runtime::Timer& timer) {
                      static_cast<ServiceTimer&>(timer).service.resume_accepting();
                    }),
      metrics_(shared, worker.index()),
      shedder_({.target = shared.options.queue_delay_max}),
      probe_timer_(
          *this,
          [](runtime::Timer& timer) { static_cast<ServiceTimer&>(timer).service.probe_queue(); }),
      unready_timer_(
          *this,
          [](runtime::Timer& timer) { static_cast<ServiceTimer&>(timer).service.begin_drain(); }),
      listener_timer_(*this,
                      [](runtime::Timer& timer) {
                        static_cast<ServiceTimer&>(timer).service.close_listener();
                      }),
      drain_timer_(*this, [](runtime::Timer& timer) {
        static_cast<ServiceTimer&>(timer).service.cut_off();
      }) {}

WorkerService::~WorkerService() { SENNIT_ASSERT(connection_count_ == 0, connection_count_); }

Result<void> WorkerService::listen(int descriptor) {
  SENNIT_TRY(listener_, worker_.backend().adopt(descriptor));
  worker_.backend().accept(accepting_, listener_);
  return {};
}

void WorkerService::accepted(const runtime::io::Completion& completion) {
  if (completion.result >= 0) {
    const auto socket = worker_.backend().adopt(completion.result);
    if (socket) {
      auto* connection = new Connection(*this, *socket);  // Owned by the list; see remove().
      connections_.push_back(*connection);
      ++connection_count_;
      metrics_.accepted(connection_count_);
      connection->start();
    } else {
      log::warning("a connection is dropped: {}", socket.error().to_string());
    }
    if (connection_count_ >= shared_.connections_max_each) pause_accepting("its connection limit");
  } else if (completion.result != -ECANCELED && listener_.is_valid()) {
    pause_accepting(Error::from_os(-completion.result, "").to_string());
  }
  if (!completion.more) {
    if (is_paused_ || !listener_.is_valid()) return finish_if_drained();
    worker_.backend().accept(accepting_, listener_);
  }
}

// Accepting stops rather than spins: the kernel's queue holds the clients until there is room.
void WorkerService::pause_accepting(std::string_view why) {
  if (is_paused_) return;
  is_paused_ = true;
  metrics_.paused();
  log::warning("worker {} pauses accepting with {} connections: {}", worker_.index(),
               connection_count_, why);
  worker_.backend().cancel(accepting_);
  worker_.timers().arm(accept_timer_, worker_.now() + accept_pause);
}

void WorkerService::resume_accepting() {
  if (!listener_.is_valid()) return;
  if (connection_count_ >= shared_.connections_max_each || accepting_.in_flight()) {
    worker_.timers().arm(accept_timer_, worker_.now() + accept_pause);
    return;
  }
  is_paused_ = false;
  worker_.backend().accept(accepting_, listener_);
}

std::string_view WorkerService::date_line() {
  const std::int64_t second =
      std::chrono::duration_cast<std::chrono::seconds>(worker_.now().time_since_epoch()).count();
  if (second != date_second_) {
    date_second_ = second;
    date_line_ = h1::date_line(worker_.clock().wall_now());
  }
  return date_line_;
}

const ServedRoute& WorkerService::served(const Router::Match& match) const {
  const std::size_t count = shared_.routes.size() / 2;
  if (match.found == Router::Found::route) return shared_.routes[match.handler_index];
  const bool has_path = !match.pattern.empty();
  return shared_.routes[has_path ? count + match.handler_index : 2 * count];
}

bool WorkerService::admit(Exchange& exchange) {
  const ServedRoute& route = *exchange.route;
  exchange.is_counted = true;
  ++in_flight_;
  metrics_.begin(exchange.match);
  if (!probe_timer_.is_armed() && shared_.options.queue_delay_max > Duration::zero()) {
    probe_due_ = worker_.now() + probe_interval;
    worker_.timers().arm(probe_timer_, probe_due_);
  }
  if (route.is_always_served) return true;
  return in_flight_ <= shared_.in_flight_max_each && !shedder_.sheds();
}

void WorkerService::count(Exchange& exchange) {
  if (!std::exchange(exchange.is_counted, false)) return;
  --in_flight_;
  metrics_.end(exchange.match, elapsed_since(exchange.started), exchange.outcome);
}

// A request that began and ended in this turn took less than its time tells: one look at the clock
// stands for all of these.
Duration WorkerService::elapsed_since(TimePoint started) {
  const TimePoint now = worker_.now();
  if (now > started) return now - started;
  if (measured_turn_ != now) {
    measured_turn_ = now;
    measured_in_turn_ = worker_.clock().now() - now;
  }
  return measured_in_turn_;
}

void WorkerService::probe_queue() {
  const TimePoint now = worker_.now();
  shedder_.observe(now - probe_due_, now);
  metrics_.set_shed_share(shedder_.share());
  if (in_flight_ == 0 && shedder_.share() == 0) return;  // The next request arms it again.
  probe_due_ = now + probe_interval;
  worker_.timers().arm(probe_timer_, probe_due_);
}

std::unique_ptr<Exchange> WorkerService::borrow_exchange() {
  if (idle_exchanges_.empty()) return std::make_unique<Exchange>(worker_);
  auto exchange = std::move(idle_exchanges_.back());
  idle_exchanges_.pop_back();
  return exchange;
}

void WorkerService::give_back(std::unique_ptr<Exchange> exchange) {
  if (idle_exchanges_.size() >= idle_exchanges_max) return;
  exchange->reset();
  idle_exchanges_.push_back(std::move(exchange));
}

std::unique_ptr<Buffer> WorkerService::borrow_buffer() {
  if (idle_buffers_.empty()) return std::make_unique<Buffer>();
  auto buffer = std::move(idle_buffers_.back());
  idle_buffers_.pop_back();
  return buffer;
}

void WorkerService::give_back(std::unique_ptr<Buffer> buffer) {
  if (idle_buffers_.size() >= idle_buffers_max) return;
  buffer->clear();
  if (buffer->capacity() > idle_buffer_bytes_max) buffer->release();
  idle_buffers_.push_back(std::move(buffer));
}

void WorkerService::remove(Connection& connection) {
  connection.unlink();
  delete &connection;
  --connection_count_;
  metrics_.ended(connection_count_);
  finish_if_drained();
}

// Announce first, stop reading after: from now on every answer says `Connection: close`, but each
// connection may still ask once more. Those the kernel has begun to open are taken before the
// listening socket is closed, because closing resets them.
void WorkerService::drain(std::function<void(const Drained&)> drained) {
  SENNIT_ASSERT(!is_draining() && when_drained_ == nullptr);
  when_drained_ = std::move(drained);
  if (shared_.options.unready_delay <= Duration::zero()) return begin_drain();
  worker_.timers().arm(unready_timer_, worker_.now() + shared_.options.unready_delay);
}

void WorkerService::begin_drain() {
  drained_ = std::move(when_drained_);
  announces_each_from_ = worker_.now() + shared_.options.drain_idle_timeout;
  if (shared_.keeps_listeners) {
    // What waits there is for whoever serves it next.
  } else if (const auto refused = net::refuse_new_connections(
                 worker_.backend(), worker_.backend().descriptor(listener_));
             !refused) {
    log::warning("while stopping: {}", refused.error().to_string());
  }
  worker_.timers().arm(listener_timer_, worker_.now() + listener_grace);
  worker_.timers().arm(drain_timer_, worker_.now() + shared_.options.drain_timeout);
  for (Connection& connection : connections_) connection.drain();
}

void WorkerService::close_listener() {
  const runtime::io::Socket listener = std::exchange(listener_, {});
  worker_.backend().close(listener);
  finish_if_drained();
}

void WorkerService::cut_off() {
  const auto tell = std::exchange(drained_, nullptr);
  if (listener_.is_valid()) close_listener();
  Drained outcome;
  for (Connection& connection : connections_) {
    if (connection.is_busy()) ++outcome.cut_off;
    if (connection.is_handling()) ++outcome.still_handling;
    connection.abort();
  }
  if (outcome.cut_off > 0) {
    log::error("worker {} cut off {} requests at the drain deadline", worker_.index(),
               outcome.cut_off);
  }
  tell(outcome);
}

void WorkerService::finish_if_drained() {
  if (!is_draining() || listener_.is_valid() || accepting_.in_flight()) return;
  if (connection_count_ > 0) return;
  drain_timer_.disarm();
  accept_timer_.disarm();
  probe_timer_.disarm();
  std::exchange(drained_, nullptr)(Drained{});
}

}  // namespace sennit::http::detail
