#pragma once
// A piece of memory that processes share, under one roof whatever the system calls it: named and
// opened by others, or inherited, or passed on; made, grown and removed; never trusted.
//
//   Segment made = TRY(Segment::create(Place::posix("/orders"), layout));
//   Segment there = TRY(Segment::open(Place::posix("/orders"), Access::read_write));
//
// It begins with a page that says what it is (header.hpp) and goes on with the body, which belongs
// to a container. A new body is all zeros; a container takes zeros for empty, or gives
// `initialise`.
//
// Who opens a segment believes nothing: the header is copied, validated, and only the copy used.
// A segment that loses pages while it is mapped (a file cut off) reads as zeros from there on and
// is_damaged() becomes true; containers look at it before they hand anything out.
//
// Errors of every call that reaches the system carry its words: "create posix:/orders: already
// exists (EEXIST)". What was made half is taken back. Opening: not_found; permission_denied;
// timed_out when a living maker does not finish within the patience; malformed for everything that
// is not a whole, valid segment (also one whose maker died); unsupported for another version or
// byte order.
//
// Growing keeps addresses: the whole range up to bytes_max is reserved from the start and only
// backed as far as it is used. It does not shrink.
//
// Thread safety: one thread uses a Segment object at a time; the memory is the container's matter.
// A forked child may use the object it inherits.

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/shm/header.hpp"
#include "sennit/shm/place.hpp"

namespace sennit::shm {

enum class Access : std::uint8_t { read_only, read_write };

struct CreateOptions {
  std::uint32_t permissions = 0600;  // Exactly these, whatever the umask.
  bool reserve = true;  // Claim the pages now: "no space" is then an error, not a fault later.
  Duration patience = std::chrono::seconds(2);  // With a maker that has not finished.
  /// Prepares the body of a new segment before anybody can open it.
  std::function<Result<>(std::span<std::byte> body)> initialise{};
  const Clock* clock = nullptr;  // For the time of creation; the kernel's unless set.
};

class Segment {
 public:
  /// Errors: already_exists, if there is one; invalid_argument for a layout that cannot be.
  [[nodiscard]] static Result<Segment> create(const Place& place, const Layout& layout,
                                              const CreateOptions& options = {});

  [[nodiscard]] static Result<Segment> open(const Place& place, Access access,
                                            Duration patience = std::chrono::seconds(2));

  /// Opens for writing, or makes it if there is none, or if its maker died before it was finished.
  /// What is there must fit the layout's kind and element (invalid_argument otherwise); its size
  /// and geometry are its own. was_created() says which it was.
  [[nodiscard]] static Result<Segment> open_or_create(const Place& place, const Layout& layout,
                                                      const CreateOptions& options = {});

  /// Takes away the name (posix, file) or marks it for destruction (sysv): who has it mapped keeps
  /// it. Errors: not_found; invalid_argument for places without a name.
  [[nodiscard]] static Result<> remove(const Place& place);

  /// Passes a segment that has a descriptor (posix, file, memfd) over a connected Unix socket.
  [[nodiscard]] Result<> send(int socket) const;
  /// Errors: closed, if the peer ended; malformed if no descriptor came, or a memfd that is not
  /// sealed against being cut off.
  [[nodiscard]] static Result<Segment> receive(int socket, Access access);

  Segment(Segment&&) noexcept;
  Segment& operator=(Segment&&) noexcept;
  ~Segment();  // Unmaps. The segment stays, except heap and the last user's anonymous and memfd.

  [[nodiscard]] const Info& info() const;
  [[nodiscard]] const Place& place() const;
  [[nodiscard]] bool is_writable() const;
  [[nodiscard]] bool was_created() const;
  /// -1 for those without one.
  [[nodiscard]] int descriptor() const;

  /// What comes after the header, as far as info() says it reaches. Stays where it is.
  [[nodiscard]] std::span<std::byte> body() const;
  /// The shared header itself: raced, to be touched with atomics only.
  [[nodiscard]] HeaderPage& header() const;

  /// Gives the body more bytes, zeros after what is there, and another geometry. For the one
  /// writer. A writer that dies in here leaves the old extent in force. Errors: limit_reached
  /// beyond the maximum that was set when it was created; invalid_argument for fewer bytes than
  /// there are; permission_denied when opened read-only; those of the system.
  [[nodiscard]] Result<> grow(std::uint64_t body_bytes, const Geometry& geometry);
  /// Sees what another process grew. Errors: malformed.
  [[nodiscard]] Result<> refresh();

  [[nodiscard]] bool is_damaged() const { return damage_flag().load(); }
  /// For hot paths; lives as long as the mapping.
  [[nodiscard]] const std::atomic<bool>& damage_flag() const;
  /// Errors: malformed, once damage was seen by this process or marked by another.
  [[nodiscard]] Result<> check() const;
  /// For all who come later: open() still succeeds, so that it can be inspected; expect() refuses
  /// it.
  void mark_damaged();

  struct State;
  /// Which of its leases this object holds (lease.hpp).
  [[nodiscard]] State& state() const { return *state_; }

 private:
  explicit Segment(std::unique_ptr<State> state);
  static Result<Segment> finish(std::unique_ptr<State> state, const HeaderPage& page);
  std::unique_ptr<State> state_;
};

}  // namespace sennit::shm
