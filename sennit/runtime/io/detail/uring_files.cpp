// Calls on files: submissions like any other.

#include <algorithm>
#include <fcntl.h>
#include <liburing.h>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/io/detail/uring.hpp"
#include "sennit/runtime/io/detail/uring_ring.hpp"

namespace sennit::runtime::io {
namespace {

unsigned clamped(std::size_t bytes) {
  return static_cast<unsigned>(std::min(bytes, Backend::file_bytes_max));
}

}  // namespace

void UringBackend::file(FileOperation& operation) {
  SENNIT_ASSERT(!operation.in_flight());
  operation.kind_ = Operation::Kind::file;
  operation.cancelled_ = false;
  io_uring_sqe* const entry = ring_->next_entry();
  switch (operation.call) {
    case FileOperation::Call::open:
      ::io_uring_prep_openat(entry, AT_FDCWD, operation.path, operation.flags | O_CLOEXEC,
                             operation.mode);
      break;
    case FileOperation::Call::read:
      ::io_uring_prep_read(entry, operation.descriptor, operation.room.data(),
                           clamped(operation.room.size()), operation.offset);
      break;
    case FileOperation::Call::write:
      ::io_uring_prep_write(entry, operation.descriptor, operation.data.data(),
                            clamped(operation.data.size()), operation.offset);
      break;
    case FileOperation::Call::sync:
      ::io_uring_prep_fsync(entry, operation.descriptor, 0);
      break;
  }
  ::io_uring_sqe_set_data(entry, static_cast<Operation*>(&operation));
}

}  // namespace sennit::runtime::io
