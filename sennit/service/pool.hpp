#pragma once
// Pool: the connections to one origin, lent to one call at a time.
//
//   Result<Lease> lease = wait(pool.acquire(deadline));
//   if (lease->get() == nullptr) lease->attach(make a connection);
//   ... lease->give_back() when it can be used again; dropping the lease drops the connection.
//
// Rules:
// 1. At most connections_max exist or are being made; a Lease is the right to one.
// 2. Idle ones are lent last-in-first-out: the freshest is the least likely to be closed by the
//    server, and the surplus of a busy hour is left alone until it is too old.
// 3. When all are lent, calls wait first-in-first-out, at most waiting_max of them.
// 4. An idle connection that stirs (the server closed it, or sent what nobody asked for) is
//    discarded by whoever watches it, with discard().
//
// Thread safety: none; a pool belongs to the worker that it was made on. It must outlive its
// leases, and be destroyed on its worker.

#include <cstddef>
#include <memory>
#include <optional>

#include "sennit/base/intrusive_list.hpp"
#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/runtime/timer.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::service {

class Pool;

/// What is pooled: derive a connection from it.
class Pooled : public ListHook<Pooled> {
 public:
  virtual ~Pooled() = default;
  /// It goes to rest in the pool. False if it cannot be used again after all: it is dropped.
  virtual bool start_idling(Pool& pool) = 0;
  /// It was lent again.
  virtual void stop_idling() = 0;

 private:
  friend class Lease;
  friend class Pool;
  TimePoint made_;
  TimePoint idle_since_;
};

struct PoolOptions {
  std::size_t connections_max = 256;
  std::size_t idle_max = 64;
  std::size_t waiting_max = 1024;
  /// Shorter than servers' own (75 s here, 60 s and less elsewhere), so that they seldom close
  /// first.
  Duration idle_timeout = std::chrono::seconds(30);
  Duration age_max = Duration::max();  // Older ones are not lent again.
};

/// The right to one connection. Movable; the pool must outlive it.
class Lease {
 public:
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&&) = delete;
  ~Lease();  // Drops the connection, if there is one.

  /// Null until one was made and attached.
  [[nodiscard]] Pooled* get() const { return pooled_.get(); }
  /// Somebody else has used it before: the server may have closed it meanwhile.
  [[nodiscard]] bool is_reused() const { return is_reused_; }
  void attach(std::unique_ptr<Pooled> pooled);
  /// To the next who waits, or to rest. Requires a connection. The lease is empty afterwards.
  void give_back();

 private:
  friend class Pool;
  Lease(Pool& pool, std::unique_ptr<Pooled> pooled);
  Pool* pool_;
  std::unique_ptr<Pooled> pooled_;
  bool is_reused_;
};

class Pool {
 public:
  class Acquire;

  explicit Pool(const PoolOptions& options = {});
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Awaitable, Result<Lease>. `fresh`: never one that was used before.
  /// Errors: timed_out while all are lent; limit_reached when too many wait already; cancelled.
  [[nodiscard]] Acquire acquire(Deadline deadline, bool fresh = false);

  /// Destroys an idle connection. May be called from what watches it.
  void discard(Pooled& pooled);
  /// Destroys all idle ones.
  void close_idle();

  [[nodiscard]] std::size_t open_count() const { return open_; }  // Lent, being made and idle.
  [[nodiscard]] std::size_t idle_count() const { return idle_count_; }
  [[nodiscard]] std::size_t waiting_count() const { return waiting_count_; }

 private:
  friend class Lease;
  struct Reaper : runtime::Timer {
    explicit Reaper(Pool& p);
    Pool& pool;
  };

  std::optional<Lease> try_acquire(bool fresh);
  void take_back(std::unique_ptr<Pooled> pooled);
  void drop_one();
  void serve_waiters();
  void reap();
  [[nodiscard]] bool is_too_old(const Pooled& pooled) const;

  const PoolOptions options_;
  runtime::Worker& worker_;
  IntrusiveList<Pooled> idle_;  // The freshest first; owned.
  IntrusiveList<Acquire> waiting_;
  std::size_t open_ = 0;
  std::size_t idle_count_ = 0;
  std::size_t waiting_count_ = 0;
  Reaper reaper_;
};

class Pool::Acquire : public ListHook<Pool::Acquire> {
 public:
  static constexpr const char* waits_for = "a connection of a pool";

  Acquire(Pool& pool, Deadline deadline, bool fresh);
  ~Acquire();
  bool ready();
  bool start(runtime::Waiter& waiter);
  void cancel();
  Result<Lease> take();

 private:
  friend class Pool;
  struct Expiry : runtime::Timer {
    explicit Expiry(Acquire& a);
    Acquire& acquire;
  };
  void end(Errc code);
  void leave();

  Pool& pool_;
  const Deadline deadline_;
  const bool fresh_;
  Expiry timer_;
  runtime::Waiter* waiter_ = nullptr;
  std::optional<Lease> lease_;
  Errc error_ = Errc::cancelled;
};

}  // namespace sennit::service
