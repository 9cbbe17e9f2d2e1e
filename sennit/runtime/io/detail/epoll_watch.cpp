// Watching foreign descriptors: each has a slot for as long as it is watched, registered for one
// event.

#include <cerrno>
#include <sys/epoll.h>

#include "sennit/runtime/io/detail/epoll.hpp"

namespace sennit::runtime::io {

bool EpollBackend::watch(Operation& operation, int descriptor, Interest interest) {
  SENNIT_ASSERT(!operation.in_flight() && (interest.readable || interest.writable));
  const Socket socket = slots_.add();
  epoll_event event{};
  event.events = EPOLLONESHOT;
  if (interest.readable) event.events |= EPOLLIN;
  if (interest.writable) event.events |= EPOLLOUT;
  event.data.u64 = token(socket);
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    operation.result_ = -errno;
    slots_.remove(socket);
    return true;
  }
  Slot& slot = slots_.at(socket);
  slot.descriptor = descriptor;
  slot.watched = true;
  slot.reader = &operation;
  ++watch_count_;
  operation.kind_ = Operation::Kind::watch;
  operation.socket_ = socket;
  operation.cancelled_ = false;
  return false;
}

void EpollBackend::finish_watch(Operation& operation, int result) {
  const Socket socket = operation.socket_;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, slots_.at(socket).descriptor, nullptr);
  slots_.remove(socket);
  --watch_count_;
  operation.kind_ = Operation::Kind::none;
  operation.completed_(operation, {.result = result, .more = false, .bytes = {}});
}

}  // namespace sennit::runtime::io
