#pragma once
// Stops a writer at its n-th store to shared memory: that store and all later ones do not happen,
// as if the process had been killed there. For containers over HookedStore.
//
//   for (int n = 0; stops_at(n, [&] { queue.push(bytes); }); ++n) { /* attach, verify */ }
//
// Thread safety: one writer at a time, in one thread.

#include <atomic>

#include "sennit/shm/header.hpp"
#include "sennit/shm/segment.hpp"
#include "sennit/shm/store.hpp"

namespace sennit::shm::testing {

struct Stopped {};

class StopWriter {
 public:
  /// Runs `operation` with only its first `stores` stores; false if it needed no more than those.
  /// Whatever the operation built must have been destroyed inside it, or be destroyed before
  /// resume() is called: a dead process gives nothing back.
  template <class Operation>
  static bool stops_at(int stores, Operation operation) {
    left_ = stores;
    has_stopped_ = false;
    set_store_hook(&allow);
    try {
      operation();
    } catch (const Stopped&) {
    }
    set_store_hook(nullptr);
    return has_stopped_;
  }

  /// Makes the leases of a segment look like those of processes that have ended.
  static void kill_owners(const Segment& segment) {
    for (LeaseRecord& lease : segment.header().leases) {
      auto& owner = reinterpret_cast<std::atomic<std::uint64_t>&>(lease.owner);
      if (owner.load() != 0) owner.fetch_or(0x3fffff);  // The largest id there can be.
    }
  }

 private:
  static bool allow() {
    if (has_stopped_) return false;  // Destructors on the way out.
    if (left_-- > 0) return true;
    has_stopped_ = true;
    throw Stopped{};
  }
  static inline int left_ = 0;
  static inline bool has_stopped_ = false;
};

}  // namespace sennit::shm::testing
