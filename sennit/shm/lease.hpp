#pragma once
// Who may write: each role of a segment (its writer, its consumer) belongs to one process at a
// time.
//
// A lease is held until it is destroyed or its process ends, however that happens; the next who
// asks gets it then and is told that it took over, so that it recovers first. A living owner is
// never disturbed, also not a stopped one.
//
// How the end of an owner is known: where there is a descriptor, the lease is a lock of the open
// file description, which the kernel drops with the process. A child forked by the owner would keep
// it, and other segments have none, so the owner's process id and start time are kept too and count
// where both processes share a pid namespace.
//
// Thread safety: none of its own. The Segment must outlive the lease; it may be moved.

#include <cstdint>
#include <string>
#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/shm/segment.hpp"

namespace sennit::shm {

enum class Role : std::uint8_t { writer = 0, consumer = 1, third = 2, fourth = 3 };

class OwnerLease {
 public:
  /// Errors: already_exists, naming the process, while another (or another object of this process)
  /// holds it; permission_denied for a segment opened read-only.
  [[nodiscard]] static Result<OwnerLease> acquire(Segment& segment, Role role = Role::writer);

  OwnerLease(OwnerLease&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), role_(other.role_), record_(other.record_) {
    took_over_ = other.took_over_;
  }
  OwnerLease& operator=(OwnerLease&& other) noexcept;
  ~OwnerLease() { release(); }

  /// The last owner did not give it back: recover before anything else.
  [[nodiscard]] bool took_over() const { return took_over_; }
  /// Gives it back in order.
  void release();

 private:
  OwnerLease(Segment::State& state, Role role, LeaseRecord& record)
      : state_(&state), role_(role), record_(&record) {}

  Segment::State* state_;
  Role role_;
  LeaseRecord* record_;
  bool took_over_ = false;
};

/// What attaching found and did, for logs and statistics. In bounded time, always.
struct Recovery {
  bool took_over = false;       // The last owner had not given it back.
  std::uint64_t kept = 0;       // Messages or elements found whole.
  std::uint64_t completed = 0;  // Operations that were under way and could be brought to their end.
  std::uint64_t discarded = 0;  // Operations that were under way and were taken back.

  /// "took over from an owner that ended: 3 kept, 0 completed, 1 discarded".
  [[nodiscard]] std::string to_string() const;
};

/// The process that holds a role, or 0: what a header says, for people.
[[nodiscard]] int owner_pid(const Segment& segment, Role role);
/// Whether that process certainly runs no more.
[[nodiscard]] bool owner_is_dead(const Segment& segment, Role role);

}  // namespace sennit::shm
