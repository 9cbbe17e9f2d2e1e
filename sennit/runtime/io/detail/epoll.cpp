#include "sennit/runtime/io/detail/epoll.hpp"

// Every descriptor is registered once, edge-triggered, for both directions. The slot remembers what
// the edges said:
// 1. `readable` is set by an edge and cleared by a read that came back short or with EAGAIN. While
//    it is clear nobody calls recv, so no call is wasted on EAGAIN.
// 2. A short read proves that the kernel's buffer was empty at that moment; what arrives later is a
//    new edge. After a hang-up there is none, so then only the end of the stream clears the bit.
// 3. `writable` likewise for send. A fresh socket counts as writable; a connecting one does not.
// 4. News of a socket that was gathered before its connect() is handled after it when an earlier
//    completion of the same turn called connect(): a connection counts when the kernel still says
//    so.
// 5. A read that fills the buffer leaves `readable` set and queues the socket for the next turn, so
//    that one busy peer does not starve the others.

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <span>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sennit::runtime::io {
namespace {

constexpr int events_per_poll = 256;
constexpr std::uint64_t wake_token = UINT64_MAX;
constexpr std::size_t receive_bytes = 64 * 1024;

Socket socket_of(std::uint64_t event_token) {
  return {static_cast<std::uint32_t>(event_token), static_cast<std::uint32_t>(event_token >> 32)};
}

bool is_still_connecting(int descriptor) {
  pollfd asked{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&asked, 1, 0) == 0;
}

bool is_exhaustion(int os_error) {
  return os_error == EMFILE || os_error == ENFILE || os_error == ENOBUFS || os_error == ENOMEM;
}

// With a timeout to the nanosecond where the kernel, or the sandbox around it, has the call for it;
// else to the millisecond, rounded up, so that timers do not spin.
int wait_for_events(int epoll, std::span<epoll_event> events, Duration timeout) {
  const auto room = static_cast<int>(events.size());
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000);
  const bool is_endless = timeout == Duration::max();
  const int ready =
      ::epoll_pwait2(epoll, events.data(), room, is_endless ? nullptr : &limit, nullptr);
  if (ready >= 0 || (errno != ENOSYS && errno != EPERM)) return ready;
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
  const int bounded = static_cast<int>(std::min<std::int64_t>(milliseconds, INT_MAX));
  return ::epoll_wait(epoll, events.data(), room, is_endless ? -1 : bounded);
}

}  // namespace

Result<std::unique_ptr<Backend>> EpollBackend::make(const BackendOptions& options) {
  std::unique_ptr<EpollBackend> backend(new EpollBackend(options));
  if (auto opened = backend->open(); !opened) return failure(std::move(opened).error());
  return backend;
}

Result<void> EpollBackend::open() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return os_failure(errno, "create an epoll instance");
  wake_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_event_ < 0) return os_failure(errno, "create an eventfd");
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = wake_token;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_event_, &event) != 0) {
    return os_failure(errno, "watch an eventfd");
  }
  receive_buffer_ = std::make_unique_for_overwrite<char[]>(receive_bytes);
  return {};
}

EpollBackend::~EpollBackend() {
  SENNIT_ASSERT(files_in_flight_ == 0, files_in_flight_);
  SENNIT_ASSERT(watch_count_ == 0, watch_count_);
  for (Slot& slot : slots_.all()) {
    SENNIT_ASSERT(slot.reader == nullptr && slot.writer == nullptr, slot.descriptor);
    if (slot.descriptor >= 0) ::close(slot.descriptor);
  }
  if (wake_event_ >= 0) ::close(wake_event_);
  if (epoll_ >= 0) ::close(epoll_);
}

Result<Socket> EpollBackend::adopt(int descriptor) {
  int non_blocking = 1;
  if (::ioctl(descriptor, FIONBIO, &non_blocking) != 0) {
    const int os_error = errno;
    ::close(descriptor);
    return os_failure(os_error, "make a socket non-blocking");
  }
  const Socket socket = slots_.add();
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.u64 = token(socket);
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    const int os_error = errno;
    slots_.remove(socket);
    ::close(descriptor);
    return os_failure(os_error, "watch a socket");
  }
  Slot& slot = slots_.at(socket);
  slot.descriptor = descriptor;
  slot.writable = true;
  return socket;
}

void EpollBackend::close(Socket socket) {
  Slot& slot = slots_.at(socket);
  SENNIT_ASSERT(!slot.closing, socket.slot);
  slot.closing = true;
  ++closing_count_;
  Operation* const reader = slot.reader;
  Operation* const writer = slot.writer;
  if (reader != nullptr) cancel(*reader);
  if (writer != nullptr) cancel(*writer);
  close_if_idle(socket);
}

void EpollBackend::close_if_idle(Socket socket) {
  Slot& slot = slots_.at(socket);
  if (!slot.closing || slot.reader != nullptr || slot.writer != nullptr) return;
  ::close(slot.descriptor);  // Also takes it out of the epoll set.
  --closing_count_;
  slots_.remove(socket);
}

void EpollBackend::shut_down_writing(Socket socket) {
  const Slot& slot = slots_.at(socket);
  SENNIT_ASSERT(slot.writer == nullptr, socket.slot);
  ::shutdown(slot.descriptor, SHUT_WR);
}

int EpollBackend::descriptor(Socket socket) const { return slots_.at(socket).descriptor; }

void EpollBackend::accept(Operation& operation, Socket listener) {
  start_reading(operation, listener, Operation::Kind::accept);
}

void EpollBackend::receive(Operation& operation, Socket socket) {
  start_reading(operation, socket, Operation::Kind::receive);
}

void EpollBackend::start_reading(Operation& operation, Socket socket, Operation::Kind kind) {
  SENNIT_ASSERT(!operation.in_flight());
  Slot& slot = slots_.at(socket);
  SENNIT_ASSERT(slot.reader == nullptr && !slot.closing, socket.slot);
  operation.kind_ = kind;
  operation.socket_ = socket;
  operation.cancelled_ = false;
  slot.reader = &operation;
  if (slot.readable) queue_read(socket, slot);
}

void EpollBackend::queue_read(Socket socket, Slot& slot) {
  if (slot.read_queued) return;
  slot.read_queued = true;
  pending_reads_.push_back(socket);
}

bool EpollBackend::send(Operation& operation, Socket socket, std::string_view bytes) {
  SENNIT_ASSERT(!operation.in_flight());
  Slot& slot = slots_.at(socket);
  SENNIT_ASSERT(slot.writer == nullptr && !slot.closing, socket.slot);
  operation.data_ = bytes.data();
  operation.bytes_ = bytes.size();
  operation.transferred_ = 0;
  if (send_some(operation, slot)) return true;
  operation.kind_ = Operation::Kind::send;
  operation.socket_ = socket;
  operation.cancelled_ = false;
  slot.writer = &operation;
  return false;
}

// True when the operation is done, its result set.
bool EpollBackend::send_some(Operation& operation, Slot& slot) {
  while (slot.writable && operation.bytes_ > 0) {
    const ssize_t sent = ::send(slot.descriptor, operation.data_, operation.bytes_, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {
        slot.writable = false;
        return false;
      }
      operation.result_ = -errno;
      return true;
    }
    const auto moved = static_cast<std::size_t>(sent);
    slot.writable = moved == operation.bytes_;
    operation.data_ += moved;
    operation.bytes_ -= moved;
    operation.transferred_ += moved;
  }
  operation.result_ = static_cast<int>(std::min<std::size_t>(operation.transferred_, INT_MAX));
  return operation.bytes_ == 0;
}

bool EpollBackend::connect(Operation& operation, Socket socket, const void* address,
                           std::size_t address_bytes) {
  SENNIT_ASSERT(!operation.in_flight());
  Slot& slot = slots_.at(socket);
  SENNIT_ASSERT(slot.writer == nullptr && !slot.closing, socket.slot);
  slot.writable = slot.readable = slot.hung_up = false;  // What an unconnected socket said.
  if (::connect(slot.descriptor, static_cast<const sockaddr*>(address),
                static_cast<socklen_t>(address_bytes)) == 0) {
    slot.writable = true;
    operation.result_ = 0;
    return true;
  }
  if (errno != EINPROGRESS) {
    operation.result_ = -errno;
    return true;
  }
  operation.kind_ = Operation::Kind::connect;
  operation.socket_ = socket;
  operation.cancelled_ = false;
  slot.writer = &operation;
  return false;
}

void EpollBackend::cancel(Operation& operation) {
  if (!operation.in_flight() || operation.cancelled_) return;
  operation.cancelled_ = true;
  if (operation.kind_ == Operation::Kind::file) return cancel_file(operation);
  cancelled_.push_back(&operation);
}

void EpollBackend::finish(Operation& operation, const Completion& completion) {
  const Socket socket = operation.socket_;
  Slot& slot = slots_.at(socket);
  (slot.reader == &operation ? slot.reader : slot.writer) = nullptr;
  operation.kind_ = Operation::Kind::none;
  close_if_idle(socket);
  operation.completed_(operation, completion);
}

// Nobody else finishes a cancelled operation, so all of them are still in flight here.
void EpollBackend::deliver_cancelled() {
  ending_.swap(cancelled_);
  for (Operation* operation : ending_) {
    if (operation->kind_ == Operation::Kind::watch) {
      finish_watch(*operation, -ECANCELED);
      continue;
    }
    finish(*operation, {.result = -ECANCELED, .more = false, .bytes = {}});
  }
  ending_.clear();
}

void EpollBackend::read_some(Socket socket) {
  if (!slots_.is_current(socket)) return;
  Slot& slot = slots_.at(socket);
  if (slot.reader == nullptr || slot.reader->cancelled_ || !slot.readable) return;
  if (slot.reader->kind_ == Operation::Kind::accept) {
    accept_some(socket);
  } else {
    receive_some(socket);
  }
}

void EpollBackend::accept_some(Socket socket) {
  for (unsigned taken = 0;; ++taken) {
    // The receiver may have cancelled, closed, or grown the table: look again each time.
    if (!slots_.is_current(socket)) return;
    Slot& slot = slots_.at(socket);
    if (slot.reader == nullptr || slot.reader->cancelled_) return;
    if (taken == options_.accept_burst) return queue_read(socket, slot);
    const int accepted = ::accept4(slot.descriptor, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted >= 0) {
      slot.reader->completed_(*slot.reader, {.result = accepted, .more = true, .bytes = {}});
    } else if (errno == EAGAIN) {
      slot.readable = false;
      return;
    } else if (is_exhaustion(errno)) {
      return finish(*slot.reader, {.result = -errno, .more = false, .bytes = {}});
    } else if (errno == EINVAL || errno == EBADF || errno == ENOTSOCK || errno == EOPNOTSUPP) {
      return finish(*slot.reader, {.result = -errno, .more = false, .bytes = {}});
    }
    // Anything else befell one connection before we took it.
  }
}

void EpollBackend::receive_some(Socket socket) {
  Slot& slot = slots_.at(socket);
  ssize_t received = 0;
  do {
    received = ::recv(slot.descriptor, receive_buffer_.get(), receive_bytes, 0);
  } while (received < 0 && errno == EINTR);
  if (received > 0) {
    const auto bytes = static_cast<std::size_t>(received);
    if (bytes < receive_bytes && !slot.hung_up) slot.readable = false;
    if (slot.readable) queue_read(socket, slot);
    slot.reader->completed_(*slot.reader, {.result = static_cast<int>(received),
                                           .more = true,
                                           .bytes = {receive_buffer_.get(), bytes}});
  } else if (received < 0 && errno == EAGAIN) {
    slot.readable = false;
  } else {
    finish(*slot.reader, {.result = received == 0 ? 0 : -errno, .more = false, .bytes = {}});
  }
}

void EpollBackend::finish_connect(Socket socket) {
  Slot& slot = slots_.at(socket);
  int os_error = 0;
  socklen_t size = sizeof os_error;
  if (::getsockopt(slot.descriptor, SOL_SOCKET, SO_ERROR, &os_error, &size) != 0) os_error = errno;
  finish(*slot.writer, {.result = -os_error, .more = false, .bytes = {}});
}

void EpollBackend::write_some(Socket socket) {
  Slot& slot = slots_.at(socket);
  if (slot.writer == nullptr || slot.writer->cancelled_) return;
  if (slot.writer->kind_ == Operation::Kind::connect) return finish_connect(socket);
  if (send_some(*slot.writer, slot)) {
    finish(*slot.writer, {.result = slot.writer->result_, .more = false, .bytes = {}});
  }
}

void EpollBackend::handle(Socket socket, std::uint32_t events) {
  if (!slots_.is_current(socket)) return;  // Closed by an earlier completion of this turn.
  {
    Slot& slot = slots_.at(socket);
    if (slot.watched) {
      if (slot.reader->cancelled_) return;
      const bool failed = (events & (EPOLLHUP | EPOLLERR)) != 0;
      const bool readable = failed || (events & EPOLLIN) != 0;
      const bool writable = failed || (events & EPOLLOUT) != 0;
      return finish_watch(*slot.reader,
                          (readable ? watched_readable : 0) | (writable ? watched_writable : 0));
    }
    const bool connects = slot.writer != nullptr && slot.writer->kind_ == Operation::Kind::connect;
    if (connects && is_still_connecting(slot.descriptor)) return;
    const bool ended = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    if (ended) slot.hung_up = true;
    if (ended || (events & EPOLLIN) != 0) slot.readable = true;
    if ((events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0) slot.writable = true;
    if (slot.writer != nullptr && slot.writable) write_some(socket);
  }
  read_some(socket);
}

void EpollBackend::poll(Duration timeout) {
  if (!pending_reads_.empty() || !cancelled_.empty()) timeout = Duration::zero();
  std::array<epoll_event, events_per_poll> events;
  const int ready = wait_for_events(epoll_, events, timeout);
  woken();
  deliver_cancelled();
  if (files_in_flight_ > 0) deliver_files();
  reading_.swap(pending_reads_);
  for (const Socket socket : reading_) {
    if (!slots_.is_current(socket)) continue;
    slots_.at(socket).read_queued = false;
    read_some(socket);
  }
  reading_.clear();
  for (int i = 0; i < ready; ++i) {
    if (events[i].data.u64 == wake_token) {
      std::uint64_t wakes = 0;
      [[maybe_unused]] const ssize_t drained = ::read(wake_event_, &wakes, sizeof wakes);
    } else {
      handle(socket_of(events[i].data.u64), events[i].events);
    }
  }
}

void EpollBackend::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_event_, &one, sizeof one);
}

}  // namespace sennit::runtime::io
