#include "sennit/runtime/io/detail/file_call.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "sennit/base/assert.hpp"

namespace sennit::runtime::io::detail {
namespace {

// Longer transfers are cut, so that their result fits an int and 4 GiB do not look like none.
std::size_t clamped(std::size_t bytes) { return std::min(bytes, Backend::file_bytes_max); }

ssize_t call_once(const FileOperation& operation) {
  const auto offset = static_cast<off_t>(operation.offset);
  switch (operation.call) {
    case FileOperation::Call::open:
      return ::open(operation.path, operation.flags | O_CLOEXEC, operation.mode);
    case FileOperation::Call::read:
      return ::pread(operation.descriptor, operation.room.data(), clamped(operation.room.size()),
                     offset);
    case FileOperation::Call::write:
      return ::pwrite(operation.descriptor, operation.data.data(), clamped(operation.data.size()),
                      offset);
    case FileOperation::Call::sync:
      return ::fsync(operation.descriptor);
  }
  SENNIT_ASSERT(false);
}

}  // namespace

int call_file(const FileOperation& operation) {
  ssize_t result = 0;
  do {
    result = call_once(operation);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : static_cast<int>(result);
}

}  // namespace sennit::runtime::io::detail
