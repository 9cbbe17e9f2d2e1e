#include "sennit/shm/detail/backing.hpp"

#include <cerrno>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "sennit/shm/detail/fault_guard.hpp"
#include "sennit/shm/store.hpp"

namespace sennit::shm::detail {
namespace {

std::unexpected<Error> os_error_now(const char* what, const Place& place) {
  const int error = errno;
  return os_failure(error, fmt::format("{} {}", what, place.to_string()));
}

bool is_sysv(const Place& place) {
  return place.backing == shm::Backing::sysv || place.backing == shm::Backing::sysv_huge;
}

/// The size of the machine's huge pages, which the mapping is made of.
std::uint64_t huge_page_bytes() { return std::uint64_t{2} << 20; }

constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

void Backing::swap(Backing& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(fd_, other.fd_);
  std::swap(id_, other.id_);
  std::swap(base_, other.base_);
  std::swap(mapped_, other.mapped_);
  std::swap(page_bytes_, other.page_bytes_);
  std::swap(writable_, other.writable_);
  std::swap(damaged_, other.damaged_);
}

Backing::~Backing() {
  if (base_ != nullptr) {
    if (damaged_ != nullptr) unguard(base_);
    if (is_sysv(place_)) {
      ::shmdt(base_);
    } else {
      ::munmap(base_, mapped_);
    }
  }
  if (fd_ >= 0) ::close(fd_);
}

Result<> Backing::create_file(std::uint32_t permissions) {
  const auto mode = static_cast<mode_t>(permissions & 0777);
  const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC;
  const char* const name = place_.name.c_str();
  switch (place_.backing) {
    case shm::Backing::posix:
      fd_ = ::shm_open(name, flags, mode);
      break;
    case shm::Backing::file:
      fd_ = ::open(name, flags | O_NOFOLLOW, mode);
      break;
    default:
      fd_ = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
      break;
  }
  if (fd_ < 0) return os_error_now("create", place_);
  if (::fchmod(fd_, mode) != 0) {
    auto error = os_error_now("set the permissions of", place_);
    static_cast<void>(remove(place_));
    return error;
  }
  return {};
}

Result<Backing> Backing::create(const Place& place, std::uint64_t bytes, std::uint64_t bytes_max,
                                std::uint32_t permissions, bool reserve) {
  Backing made;
  made.place_ = place;
  made.writable_ = true;
  if (place.backing == shm::Backing::heap || place.backing == shm::Backing::anonymous) {
    const int sharing = place.backing == shm::Backing::heap ? MAP_PRIVATE : MAP_SHARED;
    void* const at = ::mmap(nullptr, bytes_max, PROT_READ | PROT_WRITE,
                            sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return os_error_now("map", place);
    made.base_ = static_cast<std::byte*>(at);
    made.mapped_ = bytes_max;
    if (auto guarded = made.start_guard(); !guarded) return failure(guarded.error());
    return made;
  }
  if (is_sysv(place)) {
    const bool is_huge = place.backing == shm::Backing::sysv_huge;
    const std::uint64_t unit = is_huge ? huge_page_bytes() : 1;
    const int flags = IPC_CREAT | IPC_EXCL | (is_huge ? SHM_HUGETLB : SHM_NORESERVE) |
                      static_cast<int>(permissions & 0777);
    made.id_ = ::shmget(place.key, (bytes_max + unit - 1) / unit * unit, flags);
    if (made.id_ < 0) return os_error_now("create", place);
    if (auto attached = made.attach_sysv(); !attached) {
      ::shmctl(made.id_, IPC_RMID, nullptr);
      return failure(attached.error());
    }
    return made;
  }
  if (auto created = made.create_file(permissions); !created) return failure(created.error());
  // A memfd has its whole size from the start, so that it can be sealed against any other.
  const bool is_memfd = place.backing == shm::Backing::memfd;
  auto ready = made.resize(is_memfd ? bytes_max : bytes, reserve && !is_memfd);
  if (ready && is_memfd && ::fcntl(made.fd_, F_ADD_SEALS, seals) != 0) {
    ready = os_error_now("seal", place);
  }
  if (ready) ready = made.map(bytes_max);
  if (!ready) {
    if (!is_memfd) static_cast<void>(remove(place));
    return failure(ready.error());
  }
  return made;
}

Result<Backing> Backing::open(const Place& place, bool writable) {
  Backing there;
  there.place_ = place;
  there.writable_ = writable;
  // Not blocking: a FIFO in place of the file is an error, not a wait.
  const int flags = (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK;
  if (place.backing == shm::Backing::posix) {
    there.fd_ = ::shm_open(place.name.c_str(), flags, 0);
  } else if (place.backing == shm::Backing::file) {
    there.fd_ = ::open(place.name.c_str(), flags);
  } else if (is_sysv(place)) {
    there.id_ = ::shmget(place.key, 0, 0);
    if (there.id_ < 0) return os_error_now("open", place);
    if (auto attached = there.attach_sysv(); !attached) return failure(attached.error());
    return there;
  } else {
    return failure(Errc::invalid_argument, "open " + place.to_string() + ": it has no name");
  }
  if (there.fd_ < 0) return os_error_now("open", place);
  return there;
}

Result<Backing> Backing::adopt(int fd, bool writable) {
  Backing there;
  there.place_ = Place::memfd("received");
  there.writable_ = writable;
  there.fd_ = fd;
  // A file of shm_open shows F_SEAL_SEAL alone: it cannot be sealed, and is guarded like any file.
  const int found = ::fcntl(fd, F_GET_SEALS);
  if (found >= 0 && found != F_SEAL_SEAL && (found & F_SEAL_SHRINK) == 0) {
    return failure(Errc::malformed, "use the memfd received: it is not sealed");
  }
  // What was passed shares its file description, and with it its locks, with the sender.
  const int own = ::open(fmt::format("/proc/self/fd/{}", fd).c_str(),
                         (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (own < 0 && errno == EACCES) return os_error_now("open", there.place_);
  if (own >= 0) {
    ::close(fd);
    there.fd_ = own;
  }
  return there;
}

Result<> Backing::attach_sysv() {
  struct shmid_ds status{};
  if (::shmctl(id_, IPC_STAT, &status) != 0) return os_error_now("inspect", place_);
  void* const at = ::shmat(id_, nullptr, writable_ ? 0 : SHM_RDONLY);
  if (at == reinterpret_cast<void*>(-1)) return os_error_now("map", place_);
  base_ = static_cast<std::byte*>(at);
  mapped_ = status.shm_segsz;
  if (place_.backing == shm::Backing::sysv_huge) page_bytes_ = huge_page_bytes();
  if (mapped_ < header_bytes) {
    return failure(Errc::malformed, "map " + place_.to_string() + ": shorter than a header");
  }
  return start_guard();
}

Result<> Backing::start_guard() {
  SENNIT_TRY(damaged_, guard(base_, mapped_, page_bytes_));
  return {};
}

Result<> Backing::map(std::uint64_t bytes_max) {
  if (fd_ < 0) {
    if (bytes_max <= mapped_) return {};
    return failure(Errc::malformed, "map " + place_.to_string() + ": it was cut off");
  }
  void* const at = ::mmap(nullptr, bytes_max, writable_ ? PROT_READ | PROT_WRITE : PROT_READ,
                          MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (at == MAP_FAILED) return os_error_now("map", place_);
  base_ = static_cast<std::byte*>(at);
  mapped_ = bytes_max;
  return start_guard();
}

Result<std::uint64_t> Backing::size() const {
  if (fd_ < 0) return mapped_;
  struct stat status{};
  if (::fstat(fd_, &status) != 0) return os_error_now("inspect", place_);
  if (!S_ISREG(status.st_mode)) {
    return failure(Errc::unsupported, "use " + place_.to_string() + ": it is no regular file");
  }
  return static_cast<std::uint64_t>(status.st_size);
}

Result<HeaderPage> Backing::first_page() const {
  HeaderPage page{};
  if (base_ != nullptr) {
    load_raced(&page, reinterpret_cast<const std::uint64_t*>(base_), sizeof(page));
    return page;
  }
  for (std::size_t got = 0; got < sizeof(page);) {
    const ssize_t count = ::pread(fd_, reinterpret_cast<std::byte*>(&page) + got,
                                  sizeof(page) - got, static_cast<off_t>(got));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return os_error_now("read", place_);
    if (count == 0) break;
    got += static_cast<std::size_t>(count);
  }
  return page;
}

Result<> Backing::resize(std::uint64_t bytes, bool reserve) {
  if (fd_ < 0) return {};  // All of it is there from the start.
  SENNIT_TRY(const std::uint64_t there, size());
  if (there < bytes && ::ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
    return os_error_now("resize", place_);
  }
  // Not every file system can; those leave it to the first access.
  if (reserve && ::fallocate(fd_, 0, 0, static_cast<off_t>(bytes)) != 0 && errno != EOPNOTSUPP &&
      errno != ENOSYS && errno != EINTR) {
    return os_error_now("reserve the memory of", place_);
  }
  return {};
}

Result<> Backing::remove(const Place& place) {
  int status = 0;
  if (place.backing == shm::Backing::posix) {
    status = ::shm_unlink(place.name.c_str());
  } else if (place.backing == shm::Backing::file) {
    status = ::unlink(place.name.c_str());
  } else if (is_sysv(place)) {
    const int id = ::shmget(place.key, 0, 0);
    status = id < 0 ? id : ::shmctl(id, IPC_RMID, nullptr);
  } else {
    return failure(Errc::invalid_argument, "remove " + place.to_string() + ": it has no name");
  }
  if (status != 0) return os_error_now("remove", place);
  return {};
}

}  // namespace sennit::shm::detail
