#include "sennit/shm/lease.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/core.h>

#include "sennit/shm/detail/process.hpp"
#include "sennit/shm/detail/segment_state.hpp"
#include "sennit/shm/store.hpp"

namespace sennit::shm {
namespace {

std::atomic<std::uint64_t>& word(std::uint64_t& field) {
  return reinterpret_cast<std::atomic<std::uint64_t>&>(field);
}

LeaseRecord& record_of(const Segment& segment, Role role) {
  return segment.header().leases[static_cast<std::size_t>(role)];
}

enum class Lock : std::uint8_t { got, taken, none };

/// The byte of a role lies where no data ever is.
Lock set_lock(int fd, Role role, short type) {
  if (fd < 0) return Lock::none;
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = (off_t{1} << 62) + static_cast<off_t>(role);
  lock.l_len = 1;
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return Lock::got;
  return errno == EAGAIN || errno == EACCES ? Lock::taken : Lock::none;
}

/// Whether a process id of this record means something here. The namespace is stored after the
/// owner's word and may be missing; the hash in the word has to do then.
bool is_of_own_namespace(LeaseRecord& record) {
  const std::uint64_t space = word(record.pid_namespace).load();
  return detail::is_of_own_namespace(word(record.owner).load()) &&
         (space == 0 || space == detail::own_pid_namespace());
}

/// Whether the owner that a record names has ended, for certain.
bool names_the_dead(LeaseRecord& record) {
  const std::uint64_t owner = word(record.owner).load();
  return owner != 0 && is_of_own_namespace(record) && !detail::may_be_alive(owner);
}

bool names_the_living(LeaseRecord& record) {
  const std::uint64_t owner = word(record.owner).load();
  return owner != 0 && !names_the_dead(record);
}

}  // namespace

Result<OwnerLease> OwnerLease::acquire(Segment& segment, Role role) {
  const auto refuse = [&segment](Errc code, std::string why) {
    return failure(code, fmt::format("own {}: {}", segment.place().to_string(), why));
  };
  if (!segment.is_writable()) return refuse(Errc::permission_denied, "it was opened read-only");
  Segment::State& state = segment.state();
  LeaseRecord& record = record_of(segment, role);
  const std::uint64_t self = detail::own_process();
  auto& holder = state.lease_holder[static_cast<std::size_t>(role)];
  std::uint64_t owner = word(record.owner).load();
  const auto refuse_owner = [&] {
    return refuse(Errc::already_exists, fmt::format("process {} does", detail::pid_of(owner)));
  };
  if (holder == self) return refuse_owner();
  const Lock lock = set_lock(segment.descriptor(), role, F_WRLCK);
  if (lock == Lock::taken && !names_the_dead(record)) return refuse_owner();
  // With the lock in hand, what names this process was left behind by an object that is gone, and a
  // name of another pid namespace is that of an owner whose lock the kernel has dropped.
  const bool is_left_behind = lock == Lock::got && (owner == self || !is_of_own_namespace(record));
  if (names_the_living(record) && !is_left_behind) {
    if (lock == Lock::got) set_lock(segment.descriptor(), role, F_UNLCK);
    return refuse_owner();
  }
  const std::uint64_t dirty = word(record.is_dirty).load();
  const bool took_over = owner != 0 || dirty != 0;
  const auto put = [](std::uint64_t& field, std::uint64_t value) {
    HookedStore::store(word(field), value, std::memory_order_seq_cst);
  };
  put(record.pid_namespace, 0);
  if (!HookedStore::compare_exchange(word(record.owner), owner, self, std::memory_order_seq_cst)) {
    if (lock == Lock::got) set_lock(segment.descriptor(), role, F_UNLCK);
    return refuse_owner();  // Another was faster; `owner` is who.
  }
  put(record.pid_namespace, detail::own_pid_namespace());
  if (took_over) put(record.takeover_count, word(record.takeover_count).load() + 1);
  put(record.is_dirty, 1);
  holder = self;
  OwnerLease lease(state, role, record);
  lease.took_over_ = took_over;
  return lease;
}

OwnerLease& OwnerLease::operator=(OwnerLease&& other) noexcept {
  if (this != &other) {
    release();
    state_ = std::exchange(other.state_, nullptr);
    role_ = other.role_;
    record_ = other.record_;
    took_over_ = other.took_over_;
  }
  return *this;
}

void OwnerLease::release() {
  Segment::State* const state = std::exchange(state_, nullptr);
  if (state == nullptr) return;
  auto& holder = state->lease_holder[static_cast<std::size_t>(role_)];
  const std::uint64_t self = detail::own_process();
  if (holder != self) return;  // A forked child destroys what its parent holds.
  holder = 0;
  const std::uint64_t dirty = state->backed.damage_flag().load() ? 1 : 0;
  std::uint64_t owner = self;
  try {
    HookedStore::store(word(record_->is_dirty), dirty, std::memory_order_seq_cst);
    HookedStore::compare_exchange(word(record_->owner), owner, 0, std::memory_order_seq_cst);
  } catch (...) {
    // A hook that stops the writer right here; a destructor cannot pass that on.
  }
  set_lock(state->backed.fd(), role_, F_UNLCK);
}

std::string Recovery::to_string() const {
  return fmt::format("{}: {} kept, {} completed, {} discarded",
                     took_over ? "took over from an owner that ended" : "attached in order", kept,
                     completed, discarded);
}

int owner_pid(const Segment& segment, Role role) {
  return detail::pid_of(word(record_of(segment, role).owner).load());
}

bool owner_is_dead(const Segment& segment, Role role) {
  return names_the_dead(record_of(segment, role));
}

}  // namespace sennit::shm
