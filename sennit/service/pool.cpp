#include "sennit/service/pool.hpp"

#include <algorithm>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::service {

Lease::Lease(Pool& pool, std::unique_ptr<Pooled> pooled)
    : pool_(&pool), pooled_(std::move(pooled)), is_reused_(pooled_ != nullptr) {}

Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)),
      pooled_(std::move(other.pooled_)),
      is_reused_(other.is_reused_) {}

Lease::~Lease() {
  if (pool_ == nullptr) return;
  pooled_.reset();
  pool_->drop_one();
}

void Lease::attach(std::unique_ptr<Pooled> pooled) {
  SENNIT_ASSERT(pool_ != nullptr && pooled_ == nullptr && pooled != nullptr);
  pooled->made_ = pool_->worker_.now();
  pooled_ = std::move(pooled);
}

void Lease::give_back() {
  SENNIT_ASSERT(pool_ != nullptr && pooled_ != nullptr);
  std::exchange(pool_, nullptr)->take_back(std::move(pooled_));
}

Pool::Reaper::Reaper(Pool& p)
    : Timer([](Timer& timer) { static_cast<Reaper&>(timer).pool.reap(); }), pool(p) {}

Pool::Pool(const PoolOptions& options)
    : options_(options), worker_(runtime::Worker::here()), reaper_(*this) {}

Pool::~Pool() {
  close_idle();
  SENNIT_ASSERT(open_ == 0 && "a Lease outlives its Pool", open_);
  SENNIT_ASSERT(waiting_.empty() && "somebody still waits for a connection");
}

Pool::Acquire Pool::acquire(Deadline deadline, bool fresh) { return {*this, deadline, fresh}; }

bool Pool::is_too_old(const Pooled& pooled) const {
  const TimePoint now = worker_.now();
  return now - pooled.idle_since_ >= options_.idle_timeout ||
         now - pooled.made_ >= options_.age_max;
}

std::optional<Lease> Pool::try_acquire(bool fresh) {
  while (!fresh && !idle_.empty()) {
    if (is_too_old(idle_.front())) {
      discard(idle_.front());
      continue;
    }
    std::unique_ptr<Pooled> freshest(&idle_.pop_front());
    --idle_count_;
    freshest->stop_idling();
    return Lease(*this, std::move(freshest));
  }
  // One that is made anew may take the place of an idle one.
  if (open_ >= options_.connections_max && !idle_.empty()) discard(idle_.front());
  if (open_ >= options_.connections_max) return std::nullopt;
  ++open_;
  return Lease(*this, nullptr);
}

void Pool::take_back(std::unique_ptr<Pooled> pooled) {
  pooled->idle_since_ = worker_.now();
  if (is_too_old(*pooled) || (waiting_.empty() && options_.idle_max == 0) ||
      !pooled->start_idling(*this)) {
    pooled.reset();
    return drop_one();
  }
  if (idle_count_ >= options_.idle_max && !idle_.empty() && waiting_.empty()) {
    Pooled* oldest = nullptr;
    for (Pooled& each : idle_) oldest = &each;
    discard(*oldest);
  }
  idle_.push_front(*pooled.release());
  ++idle_count_;
  if (!reaper_.is_armed() && options_.idle_timeout != Duration::max()) {
    worker_.timers().arm(reaper_, worker_.now() + options_.idle_timeout);
  }
  serve_waiters();
}

void Pool::drop_one() {
  --open_;
  serve_waiters();
}

void Pool::serve_waiters() {
  while (!waiting_.empty()) {
    Acquire& first = waiting_.front();
    std::optional<Lease> lease = try_acquire(first.fresh_);
    if (!lease) return;
    first.lease_.emplace(*std::move(lease));
    first.leave();
    std::exchange(first.waiter_, nullptr)->wake();
  }
}

void Pool::discard(Pooled& pooled) {
  pooled.unlink();
  --idle_count_;
  delete &pooled;
  drop_one();
}

void Pool::close_idle() {
  while (!idle_.empty()) discard(idle_.front());
}

void Pool::reap() {
  for (Pooled& pooled : idle_) {
    if (is_too_old(pooled)) discard(pooled);
  }
  TimePoint next = TimePoint::max();
  for (const Pooled& pooled : idle_) {
    next = std::min(next, pooled.idle_since_ + options_.idle_timeout);
  }
  if (next != TimePoint::max()) worker_.timers().arm(reaper_, next);
}

Pool::Acquire::Expiry::Expiry(Acquire& a)
    : Timer([](Timer& timer) { static_cast<Expiry&>(timer).acquire.end(Errc::timed_out); }),
      acquire(a) {}

Pool::Acquire::Acquire(Pool& pool, Deadline deadline, bool fresh)
    : pool_(pool), deadline_(deadline), fresh_(fresh), timer_(*this) {}

Pool::Acquire::~Acquire() {
  SENNIT_ASSERT(!is_linked() && "an Acquire must not be destroyed while it waits");
}

bool Pool::Acquire::ready() {
  if (lease_) return true;
  if (!pool_.waiting_.empty()) return false;  // Others came first.
  if (auto lease = pool_.try_acquire(fresh_)) lease_.emplace(*std::move(lease));
  return lease_.has_value();
}

bool Pool::Acquire::start(runtime::Waiter& waiter) {
  if (deadline_.expired(pool_.worker_.now())) {
    error_ = Errc::timed_out;
    return false;
  }
  if (pool_.waiting_count_ >= pool_.options_.waiting_max) {
    error_ = Errc::limit_reached;
    return false;
  }
  waiter_ = &waiter;
  pool_.waiting_.push_back(*this);
  ++pool_.waiting_count_;
  if (!deadline_.is_never()) pool_.worker_.timers().arm(timer_, deadline_.instant());
  return true;
}

void Pool::Acquire::leave() {
  timer_.disarm();
  unlink();
  --pool_.waiting_count_;
}

void Pool::Acquire::end(Errc code) {
  if (!is_linked()) return;
  error_ = code;
  leave();
  std::exchange(waiter_, nullptr)->wake();
}

void Pool::Acquire::cancel() { end(Errc::cancelled); }

Result<Lease> Pool::Acquire::take() {
  if (!lease_) return failure(error_, "get a connection from the pool");
  Result<Lease> lease(*std::move(lease_));
  lease_.reset();
  return lease;
}

}  // namespace sennit::service
