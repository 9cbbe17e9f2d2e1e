#include "sennit/runtime/io/backend.hpp"

#include <cerrno>
#include <cstdio>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/io/detail/epoll.hpp"
#include "sennit/runtime/io/detail/simulated.hpp"
#include "sennit/runtime/io/detail/uring.hpp"

namespace sennit::runtime::io {
namespace {

// Multishot receive cannot be probed by opcode; it came with 6.0.
bool kernel_is_at_least(int wanted_major, int wanted_minor) {
  utsname names{};
  int major = 0, minor = 0;
  if (::uname(&names) != 0 || std::sscanf(names.release, "%d.%d", &major, &minor) != 2) {
    return false;
  }
  return major > wanted_major || (major == wanted_major && minor >= wanted_minor);
}

}  // namespace

Operation::~Operation() { SENNIT_ASSERT(!in_flight()); }

bool Backend::watch(Operation& operation, int, Interest) {
  operation.result_ = -EOPNOTSUPP;
  return true;
}

void Backend::close_file(int descriptor) { ::close(descriptor); }

Result<BackendKind> backend_kind_from_name(std::string_view name) {
  if (name == "auto") return BackendKind::automatic;
  if (name == "uring" || name == "io_uring") return BackendKind::uring;
  if (name == "epoll") return BackendKind::epoll;
  return failure(Errc::invalid_argument, "choose an I/O backend: '" + std::string(name) +
                                             "' is none of auto, uring, epoll");
}

std::string uring_refusal() {
  if (!kernel_is_at_least(6, 0)) return "the kernel is older than Linux 6.0";
  // On a thread of its own: closing a ring interrupts system calls of the thread that made it, some
  // time later.
  std::string refusal;
  std::thread([&refusal] {
    BackendOptions small;
    small.receive_buffers = 1;
    if (auto trial = UringBackend::make(small); !trial) refusal = trial.error().to_string();
  }).join();
  return refusal;
}

Result<BackendChoice> choose_backend(BackendKind wanted) {
  if (wanted == BackendKind::epoll || wanted == BackendKind::simulated) {
    return BackendChoice{wanted, "asked for"};
  }
  std::string refusal = uring_refusal();
  if (refusal.empty()) {
    return BackendChoice{BackendKind::uring,
                         wanted == BackendKind::uring ? "asked for" : "available"};
  }
  if (wanted == BackendKind::uring) {
    return failure(Errc::unsupported, "use io_uring (" + refusal + ")");
  }
  return BackendChoice{BackendKind::epoll, "io_uring is not available: " + refusal};
}

Result<std::unique_ptr<Backend>> make_backend(BackendKind kind, const BackendOptions& options) {
  SENNIT_ASSERT(kind != BackendKind::automatic);
  if (kind == BackendKind::simulated) return SimulatedBackend::make(options);
  return kind == BackendKind::uring ? UringBackend::make(options) : EpollBackend::make(options);
}

}  // namespace sennit::runtime::io
