#include "sennit/shm/segment.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/shm/detail/backing.hpp"
#include "sennit/shm/detail/process.hpp"
#include "sennit/shm/detail/segment_state.hpp"
#include "sennit/shm/store.hpp"

namespace sennit::shm {
namespace {

using Backed = detail::Backing;
using State = Segment::State;

std::atomic<std::uint64_t>& word_at(std::byte* base, std::size_t offset) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(base + offset);
}

Error in_place(const Error& error, const Place& place) {
  return Error(error.code(), "open " + place.to_string() + ": " + error.doing());
}

bool is_finished(const HeaderPage& page) { return page.identity.magic != std::array<char, 8>{}; }

/// A page that no maker has touched, or one whose maker ended before it had finished.
bool is_abandoned(const HeaderPage& page) {
  if (is_finished(page)) return false;
  if (page.maker == 0) return true;
  const bool is_ours =
      page.maker_namespace == 0 || page.maker_namespace == detail::own_pid_namespace();
  return is_ours && !detail::may_be_alive(page.maker);
}

/// Waits until the maker has finished, the maker is certainly dead, or patience ends.
Result<HeaderPage> wait_for_header(const Backed& backed, Duration patience) {
  const RealClock clock;
  const Deadline deadline = Deadline::after(patience, clock);
  for (;;) {
    SENNIT_TRY(const std::uint64_t size, backed.size());
    SENNIT_TRY(const HeaderPage page, backed.first_page());
    if (size != 0 && size < header_bytes) {
      return failure(Errc::malformed, "shorter than a header");
    }
    if (is_finished(page)) return page;
    if (page.maker != 0 && is_abandoned(page)) {
      return failure(Errc::malformed, "unfinished: its maker has died");
    }
    if (deadline.expired(clock.now())) {
      return failure(Errc::timed_out, "unfinished: wait for its maker");
    }
    ::poll(nullptr, 0, 1);
  }
}

/// Rule 1 of header.hpp, from the claim on. False if another maker was first.
bool claim(std::byte* base, std::uint64_t expected) {
  auto& maker = word_at(base, offsetof(HeaderPage, maker));
  if (!HookedStore::compare_exchange(maker, expected, detail::own_process(),
                                     std::memory_order_seq_cst)) {
    return false;
  }
  HookedStore::store(word_at(base, offsetof(HeaderPage, maker_namespace)),
                     detail::own_pid_namespace(), std::memory_order_seq_cst);
  return true;
}

Result<> fill(const Backed& backed, const HeaderPage& page, const Layout& layout,
              const CreateOptions& options) {
  std::byte* const base = backed.base();
  if (options.initialise) {
    const auto body = std::span(base + header_bytes, layout.body_bytes);
    if (auto made = options.initialise(body); !made) return made;
  }
  const auto put = [&](std::size_t begin, std::size_t end) {
    HookedStore::copy_raced(reinterpret_cast<std::uint64_t*>(base + begin),
                            reinterpret_cast<const std::byte*>(&page) + begin, end - begin);
  };
  put(sizeof(page.identity.magic), sizeof(Identity));
  put(offsetof(HeaderPage, leases), offsetof(HeaderPage, zeros));
  std::uint64_t magic;
  std::memcpy(&magic, magic_bytes.data(), sizeof(magic));
  // seq_cst, and last: pairs with whoever reads a finished first page.
  HookedStore::store(word_at(base, 0), magic, std::memory_order_seq_cst);
  return {};
}

Result<HeaderPage> new_header(const Layout& layout, const CreateOptions& options) {
  const RealClock real;
  const Clock& clock = options.clock != nullptr ? *options.clock : real;
  return make_header(layout, clock.wall_now());
}

bool has_name(const Place& place) {
  return place.backing != Backing::heap && place.backing != Backing::anonymous &&
         place.backing != Backing::memfd;
}

}  // namespace

Segment::Segment(std::unique_ptr<State> state) : state_(std::move(state)) {}
Segment::Segment(Segment&&) noexcept = default;
Segment& Segment::operator=(Segment&&) noexcept = default;
Segment::~Segment() = default;

Result<Segment> Segment::finish(std::unique_ptr<State> state, const HeaderPage& page) {
  SENNIT_TRY(const std::uint64_t size, state->backed.size());
  auto info = read_header(page, size);
  if (!info) return failure(in_place(info.error(), state->backed.place()));
  state->info = std::move(*info);
  const bool is_mapped = state->backed.base() != nullptr;
  if (!is_mapped || state->info.bytes_max > state->backed.mapped_bytes()) {
    if (auto mapped = state->backed.map(state->info.bytes_max); !mapped) {
      return failure(mapped.error());
    }
  }
  return Segment(std::move(state));
}

Result<Segment> Segment::create(const Place& place, const Layout& layout,
                                const CreateOptions& options) {
  SENNIT_TRY(const HeaderPage page, new_header(layout, options));
  const std::uint64_t bytes = header_bytes + layout.body_bytes;
  SENNIT_TRY(Backed backed, Backed::create(place, bytes, page.identity.bytes_max,
                                           options.permissions, options.reserve));
  if (!claim(backed.base(), 0)) {
    return failure(Errc::already_exists, "create " + place.to_string());
  }
  if (auto filled = fill(backed, page, layout, options); !filled) {
    if (has_name(place)) static_cast<void>(remove(place));
    return failure(filled.error());
  }
  auto state = std::make_unique<State>(std::move(backed));
  state->was_created = true;
  SENNIT_TRY(const HeaderPage written, state->backed.first_page());
  return finish(std::move(state), written);
}

Result<Segment> Segment::open(const Place& place, Access access, Duration patience) {
  SENNIT_TRY(Backed backed, Backed::open(place, access == Access::read_write));
  auto page = wait_for_header(backed, patience);
  if (!page) return failure(in_place(page.error(), place));
  return finish(std::make_unique<State>(std::move(backed)), *page);
}

Result<Segment> Segment::open_or_create(const Place& place, const Layout& layout,
                                        const CreateOptions& options) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    auto there = has_name(place) ? open(place, Access::read_write, options.patience)
                                 : Result<Segment>(failure(Errc::not_found));
    if (there) {
      if (auto fits = expect(there->info(), layout); !fits) {
        return failure(in_place(fits.error(), place));
      }
      return there;
    }
    if (there.error().code() == Errc::not_found) {
      auto made = create(place, layout, options);
      if (made || made.error().code() != Errc::already_exists) return made;
      continue;  // Somebody else was faster.
    }
    // Only what its maker left unfinished may be made anew; what is merely wrong stays as it is.
    SENNIT_TRY(Backed backed, Backed::open(place, true));
    SENNIT_TRY(const HeaderPage found, backed.first_page());
    SENNIT_TRY(const std::uint64_t size, backed.size());
    const bool is_whole = size == 0 || size >= header_bytes;
    if (!is_whole || !is_abandoned(found)) return there;
    SENNIT_TRY(const HeaderPage page, new_header(layout, options));
    const std::uint64_t bytes = header_bytes + layout.body_bytes;
    if (auto sized = backed.resize(bytes, options.reserve); !sized) return failure(sized.error());
    if (auto mapped = backed.map(page.identity.bytes_max); !mapped) return failure(mapped.error());
    if (!claim(backed.base(), found.maker)) continue;
    HookedStore::zero(backed.base() + header_bytes, layout.body_bytes);
    if (auto filled = fill(backed, page, layout, options); !filled) return failure(filled.error());
    auto state = std::make_unique<State>(std::move(backed));
    state->was_created = true;
    SENNIT_TRY(const HeaderPage written, state->backed.first_page());
    return finish(std::move(state), written);
  }
  return failure(Errc::timed_out, "open or create " + place.to_string());
}

Result<> Segment::remove(const Place& place) { return Backed::remove(place); }

const Info& Segment::info() const { return state_->info; }
const Place& Segment::place() const { return state_->backed.place(); }
bool Segment::is_writable() const { return state_->backed.writable(); }
bool Segment::was_created() const { return state_->was_created; }
int Segment::descriptor() const { return state_->backed.fd(); }

std::span<std::byte> Segment::body() const {
  return {state_->backed.base() + header_bytes, state_->info.bytes - header_bytes};
}

HeaderPage& Segment::header() const {
  return *reinterpret_cast<HeaderPage*>(state_->backed.base());
}

const std::atomic<bool>& Segment::damage_flag() const { return state_->backed.damage_flag(); }

Result<> Segment::check() const {
  auto& state = word_at(state_->backed.base(), offsetof(HeaderPage, state));
  if (state.load() == 0 && !is_damaged()) return {};
  return failure(Errc::malformed, "use " + place().to_string() + ": it is damaged");
}

void Segment::mark_damaged() {
  if (!is_writable()) return;
  HookedStore::store(word_at(state_->backed.base(), offsetof(HeaderPage, state)), 1,
                     std::memory_order_seq_cst);
}

Result<> Segment::grow(std::uint64_t body_bytes, const Geometry& geometry) {
  const std::uint64_t bytes = header_bytes + body_bytes;
  const auto refuse = [this](Errc code, const char* why) {
    return failure(code, "grow " + place().to_string() + ": " + why);
  };
  if (!is_writable()) return refuse(Errc::permission_denied, "it was opened read-only");
  if (bytes < state_->info.bytes) return refuse(Errc::invalid_argument, "fewer bytes than it has");
  if (body_bytes > segment_bytes_max || bytes > state_->info.bytes_max) {
    return refuse(Errc::limit_reached, "more than the maximum of its creation");
  }
  if (auto sized = state_->backed.resize(bytes, true); !sized) return sized;
  const std::uint64_t sequence = state_->info.extent_sequence + 1;
  const Extent extent = make_extent(sequence, bytes, geometry);
  const std::size_t slot = offsetof(HeaderPage, extents) + sizeof(Extent) * (sequence % 2);
  std::byte* const base = state_->backed.base();
  // Rule 2 of header.hpp: sequence to zero, the fields, the sequence last.
  HookedStore::store(word_at(base, slot), 0, std::memory_order_seq_cst);
  HookedStore::copy_raced(reinterpret_cast<std::uint64_t*>(base + slot + 8),
                          reinterpret_cast<const std::byte*>(&extent) + 8, sizeof(Extent) - 8);
  HookedStore::store(word_at(base, slot), extent.sequence, std::memory_order_seq_cst);
  state_->info.bytes = bytes;
  state_->info.geometry = geometry;
  state_->info.extent_sequence = sequence;
  return {};
}

Result<> Segment::refresh() {
  SENNIT_TRY(const HeaderPage page, state_->backed.first_page());
  SENNIT_TRY(const std::uint64_t size, state_->backed.size());
  auto info = read_header(page, size);
  if (!info) return failure(in_place(info.error(), place()));
  if (info->bytes_max != state_->info.bytes_max || info->bytes < state_->info.bytes) {
    return failure(Errc::malformed, "refresh " + place().to_string() + ": another segment");
  }
  state_->info = std::move(*info);
  return {};
}

Result<> Segment::send(int socket) const {
  if (descriptor() < 0) {
    return failure(Errc::unsupported, "send " + place().to_string() + ": it has no descriptor");
  }
  char byte = 'S';
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = descriptor();
  std::memcpy(CMSG_DATA(part), &fd, sizeof(fd));
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) return os_failure(errno, "send " + place().to_string());
  }
  return {};
}

Result<Segment> Segment::receive(int socket, Access access) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got < 0) return os_failure(errno, "receive a segment");
  if (got == 0) return failure(Errc::closed, "receive a segment");
  const cmsghdr* const part = CMSG_FIRSTHDR(&message);
  if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS ||
      part->cmsg_len != CMSG_LEN(sizeof(int))) {
    return failure(Errc::malformed, "receive a segment: no descriptor came with it");
  }
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(part), sizeof(fd));
  SENNIT_TRY(Backed backed, Backed::adopt(fd, access == Access::read_write));
  auto page = wait_for_header(backed, Duration::zero());
  if (!page) return failure(in_place(page.error(), backed.place()));
  return finish(std::make_unique<State>(std::move(backed)), *page);
}

}  // namespace sennit::shm
