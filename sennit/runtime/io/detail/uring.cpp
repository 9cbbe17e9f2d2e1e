#include "sennit/runtime/io/detail/uring.hpp"

// One io_uring_enter per turn hands over everything queued and waits for completions.
//
// 1. Accept and receive are multishot: armed once, they complete until they end. When the kernel
//    ends one for a reason of its own (no buffer left, a full completion queue) it is armed again
//    in the next turn, when this turn's buffers have been given back.
// 2. Received bytes land in buffers of a provided ring, so that an idle connection holds none. Each
//    is given back right after the completion call it was lent to.
// 3. A submission's user_data is its Operation; 0 is for those whose result nobody wants (cancel,
//    close), wake_token for the eventfd. An Operation stays valid until its completion without
//    MORE, so no completion can name a dead one. A cancel that is queued names its target by
//    address; it runs before anything submitted after it, so it cannot hit a successor at the same
//    address.
// 4. Descriptors are in blocking mode: with O_NONBLOCK the kernel answers EAGAIN instead of
//    waiting.
// 5. What does not fit into the submission ring, or is refused by the kernel (EAGAIN without
//    memory, EBUSY while completions overflow), waits in a backlog and goes with a later poll().
// 6. A send that the kernel did in part is submitted again with the rest. MSG_WAITALL would save
//    these rounds, but hide from transferred() that a slow peer is reading.

#include <algorithm>
#include <cerrno>
#include <climits>
#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sennit/runtime/io/detail/uring_ring.hpp"

namespace sennit::runtime::io {
namespace {

constexpr std::size_t send_bytes_max = std::size_t{1} << 30;  // A submission's length has 32 bits.
constexpr std::uint64_t wake_token = 1;

bool is_exhaustion(int os_error) {
  return os_error == EMFILE || os_error == ENFILE || os_error == ENOBUFS || os_error == ENOMEM;
}

// Errors of accept that concern the listener; the others befell one connection before we took it.
bool ends_listener(int os_error) {
  return is_exhaustion(os_error) || os_error == ECANCELED || os_error == EINVAL ||
         os_error == EBADF || os_error == ENOTSOCK || os_error == EOPNOTSUPP;
}

}  // namespace

UringBackend::UringBackend(const BackendOptions& options)
    : options_(options), ring_(std::make_unique<detail::UringRing>()) {}

Result<std::unique_ptr<Backend>> UringBackend::make(const BackendOptions& options) {
  std::unique_ptr<UringBackend> backend(new UringBackend(options));
  if (auto opened = backend->open(); !opened) return failure(std::move(opened).error());
  return backend;
}

Result<void> UringBackend::open() {
  if (auto opened = ring_->open(options_); !opened) return opened;
  wake_event_ = ::eventfd(0, EFD_CLOEXEC);
  if (wake_event_ < 0) return os_failure(errno, "create an eventfd");
  submit_wake_read();
  return {};
}

UringBackend::~UringBackend() {
  for (Slot& slot : slots_.all()) {
    SENNIT_ASSERT(slot.reader == nullptr && slot.writer == nullptr, slot.descriptor);
    if (slot.descriptor >= 0) ::close(slot.descriptor);
  }
  ring_.reset();  // Before the memory that the pending read of the eventfd points to.
  if (wake_event_ >= 0) ::close(wake_event_);
}

Result<Socket> UringBackend::adopt(int descriptor) {
  int blocking = 0;
  if (::ioctl(descriptor, FIONBIO, &blocking) != 0) {
    const int os_error = errno;
    ::close(descriptor);
    return os_failure(os_error, "make a socket blocking");
  }
  const Socket socket = slots_.add();
  slots_.at(socket).descriptor = descriptor;
  return socket;
}

void UringBackend::close(Socket socket) {
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

void UringBackend::close_if_idle(Socket socket) {
  Slot& slot = slots_.at(socket);
  if (!slot.closing || slot.reader != nullptr || slot.writer != nullptr) return;
  io_uring_sqe* entry = ring_->next_entry();
  ::io_uring_prep_close(entry, slot.descriptor);
  ::io_uring_sqe_set_data64(entry, 0);
  --closing_count_;
  slots_.remove(socket);
}

void UringBackend::shut_down_writing(Socket socket) {
  const Slot& slot = slots_.at(socket);
  SENNIT_ASSERT(slot.writer == nullptr, socket.slot);
  ::shutdown(slot.descriptor, SHUT_WR);
}

int UringBackend::descriptor(Socket socket) const { return slots_.at(socket).descriptor; }

void UringBackend::begin(Operation& operation, Socket socket, Operation::Kind kind) {
  SENNIT_ASSERT(!operation.in_flight());
  Slot& slot = slots_.at(socket);
  const bool reads = kind == Operation::Kind::accept || kind == Operation::Kind::receive;
  Operation*& side = reads ? slot.reader : slot.writer;
  SENNIT_ASSERT(side == nullptr && !slot.closing, socket.slot);
  side = &operation;
  operation.kind_ = kind;
  operation.socket_ = socket;
  operation.cancelled_ = false;
  operation.transferred_ = 0;
  submit(operation);
}

void UringBackend::submit(Operation& operation) {
  const int descriptor = slots_.at(operation.socket_).descriptor;
  io_uring_sqe* entry = ring_->next_entry();
  switch (operation.kind_) {
    case Operation::Kind::accept:
      ::io_uring_prep_multishot_accept(entry, descriptor, nullptr, nullptr, SOCK_CLOEXEC);
      break;
    case Operation::Kind::receive:
      ::io_uring_prep_recv_multishot(entry, descriptor, nullptr, 0, 0);
      entry->flags |= IOSQE_BUFFER_SELECT;
      entry->buf_group = detail::UringRing::buffer_group;
      break;
    case Operation::Kind::connect:
      ::io_uring_prep_connect(
          entry, descriptor,
          reinterpret_cast<const sockaddr*>(reinterpret_cast<std::uintptr_t>(operation.data_)),
          static_cast<socklen_t>(operation.bytes_));
      break;
    case Operation::Kind::send:
      ::io_uring_prep_send(entry, descriptor, operation.data_,
                           std::min(operation.bytes_, send_bytes_max), MSG_NOSIGNAL);
      break;
    case Operation::Kind::watch:
    case Operation::Kind::file:
    case Operation::Kind::none:
      SENNIT_ASSERT(false);
  }
  ::io_uring_sqe_set_data(entry, &operation);
}

void UringBackend::accept(Operation& operation, Socket listener) {
  begin(operation, listener, Operation::Kind::accept);
}

void UringBackend::receive(Operation& operation, Socket socket) {
  begin(operation, socket, Operation::Kind::receive);
}

bool UringBackend::send(Operation& operation, Socket socket, std::string_view bytes) {
  operation.data_ = bytes.data();
  operation.bytes_ = bytes.size();
  begin(operation, socket, Operation::Kind::send);
  return false;
}

bool UringBackend::connect(Operation& operation, Socket socket, const void* address,
                           std::size_t address_bytes) {
  operation.data_ = static_cast<const char*>(address);
  operation.bytes_ = address_bytes;
  begin(operation, socket, Operation::Kind::connect);
  return false;
}

bool UringBackend::watch(Operation& operation, int descriptor, Interest interest) {
  SENNIT_ASSERT(!operation.in_flight() && (interest.readable || interest.writable));
  operation.kind_ = Operation::Kind::watch;
  operation.cancelled_ = false;
  io_uring_sqe* entry = ring_->next_entry();
  const unsigned events = (interest.readable ? POLLIN : 0U) | (interest.writable ? POLLOUT : 0U);
  ::io_uring_prep_poll_add(entry, descriptor, events);
  ::io_uring_sqe_set_data(entry, &operation);
  return false;
}

void UringBackend::complete_watch(Operation& operation, int result) {
  operation.kind_ = Operation::Kind::none;
  if (result >= 0) {
    const auto events = static_cast<unsigned>(result);
    const bool failed = (events & (POLLERR | POLLHUP | POLLNVAL)) != 0;
    result = (failed || (events & POLLIN) != 0 ? watched_readable : 0) |
             (failed || (events & POLLOUT) != 0 ? watched_writable : 0);
  }
  operation.completed_(operation, {.result = result, .more = false, .bytes = {}});
}

void UringBackend::cancel(Operation& operation) {
  if (!operation.in_flight() || operation.cancelled_) return;
  operation.cancelled_ = true;
  if (operation.rearm_queued_) return;  // Not at the kernel; run_rearms() ends it.
  io_uring_sqe* entry = ring_->next_entry();
  ::io_uring_prep_cancel(entry, &operation, 0);
  ::io_uring_sqe_set_data64(entry, 0);
}

void UringBackend::rearm_later(Operation& operation) {
  operation.rearm_queued_ = true;
  rearms_.push_back(&operation);
}

void UringBackend::run_rearms() {
  rearming_.swap(rearms_);
  for (Operation* operation : rearming_) {
    operation->rearm_queued_ = false;
    if (operation->cancelled_) {
      finish(*operation, {.result = -ECANCELED, .more = false, .bytes = {}});
    } else {
      submit(*operation);
    }
  }
  rearming_.clear();
}

void UringBackend::finish(Operation& operation, const Completion& completion) {
  const Socket socket = operation.socket_;
  Slot& slot = slots_.at(socket);
  (slot.reader == &operation ? slot.reader : slot.writer) = nullptr;
  operation.kind_ = Operation::Kind::none;
  close_if_idle(socket);
  operation.completed_(operation, completion);
}

void UringBackend::complete(Operation& operation, int result, std::uint32_t flags) {
  switch (operation.kind_) {
    case Operation::Kind::accept:
      complete_accept(operation, result, (flags & IORING_CQE_F_MORE) != 0);
      break;
    case Operation::Kind::receive:
      complete_receive(operation, result, flags);
      break;
    case Operation::Kind::send:
      complete_send(operation, result);
      break;
    case Operation::Kind::connect:
      finish(operation, {.result = result, .more = false, .bytes = {}});
      break;
    case Operation::Kind::watch:
      complete_watch(operation, result);
      break;
    case Operation::Kind::file:
      operation.kind_ = Operation::Kind::none;
      operation.completed_(operation, {.result = result, .more = false, .bytes = {}});
      break;
    case Operation::Kind::none:
      SENNIT_ASSERT(false, result, flags);
  }
}

void UringBackend::complete_accept(Operation& operation, int result, bool more) {
  if (result < 0 && ends_listener(-result)) {
    SENNIT_ASSERT(!more, result);
    return finish(operation, {.result = result, .more = false, .bytes = {}});
  }
  if (!more) rearm_later(operation);  // Before the call: the receiver may cancel.
  if (result >= 0) operation.completed_(operation, {.result = result, .more = true, .bytes = {}});
}

void UringBackend::complete_receive(Operation& operation, int result, std::uint32_t flags) {
  const bool more = (flags & IORING_CQE_F_MORE) != 0;
  if (result > 0) {
    if (!more) rearm_later(operation);
    const auto bytes = static_cast<std::size_t>(result);
    operation.completed_(operation,
                         {.result = result, .more = true, .bytes = ring_->received(flags, bytes)});
    return ring_->give_back_buffer(flags);
  }
  if ((flags & IORING_CQE_F_BUFFER) != 0) ring_->give_back_buffer(flags);
  if (result == -ENOBUFS && !more) return rearm_later(operation);
  finish(operation, {.result = result, .more = false, .bytes = {}});
}

void UringBackend::complete_send(Operation& operation, int result) {
  if (result > 0) {
    const auto moved = static_cast<std::size_t>(result);
    operation.transferred_ += moved;
    if (moved < operation.bytes_ && !operation.cancelled_) {  // The kernel sent a part.
      operation.data_ += moved;
      operation.bytes_ -= moved;
      return submit(operation);
    }
    result = moved < operation.bytes_
                 ? -ECANCELED
                 : static_cast<int>(std::min<std::size_t>(operation.transferred_, INT_MAX));
  }
  finish(operation, {.result = result, .more = false, .bytes = {}});
}

void UringBackend::submit_wake_read() {
  io_uring_sqe* entry = ring_->next_entry();
  ::io_uring_prep_read(entry, wake_event_, &wake_count_, sizeof wake_count_, 0);
  ::io_uring_sqe_set_data64(entry, wake_token);
}

void UringBackend::reap() {
  unsigned head = 0;
  unsigned seen = 0;
  io_uring_cqe* cqe = nullptr;
  io_uring_for_each_cqe(&ring_->get(), head, cqe) {
    ++seen;
    if (cqe->user_data == wake_token) {
      submit_wake_read();
    } else if (cqe->user_data != 0) {
      complete(*static_cast<Operation*>(::io_uring_cqe_get_data(cqe)), cqe->res, cqe->flags);
    }
  }
  ::io_uring_cq_advance(&ring_->get(), seen);
  ring_->show_returned_buffers();
}

void UringBackend::poll(Duration timeout) {
  if (!rearms_.empty()) {
    run_rearms();
    timeout = Duration::zero();
  }
  if (!ring_->submit_backlog()) timeout = Duration::zero();
  if (timeout == Duration::zero()) {
    ::io_uring_submit_and_get_events(&ring_->get());
  } else {
    __kernel_timespec limit{};
    limit.tv_sec = timeout.count() / 1'000'000'000;
    limit.tv_nsec = timeout.count() % 1'000'000'000;
    io_uring_cqe* first = nullptr;
    ::io_uring_submit_and_wait_timeout(&ring_->get(), &first, 1,
                                       timeout == Duration::max() ? nullptr : &limit, nullptr);
  }
  woken();
  reap();
}

RingDepth UringBackend::ring_depth() const {
  const io_uring& ring = ring_->get();
  return {.submissions = ::io_uring_sq_ready(&ring),
          .completions = ::io_uring_cq_ready(&ring),
          .submissions_max = ring.sq.ring_entries,
          .completions_max = ring.cq.ring_entries};
}

void UringBackend::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_event_, &one, sizeof one);
}

}  // namespace sennit::runtime::io
