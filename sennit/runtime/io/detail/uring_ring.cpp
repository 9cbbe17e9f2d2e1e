#include "sennit/runtime/io/detail/uring_ring.hpp"

#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

#include "sennit/base/assert.hpp"

namespace sennit::runtime::io::detail {
namespace {

constexpr unsigned submission_entries = 1024;
constexpr unsigned completion_entries = 8192;

void* map(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

Result<void> UringRing::open(const BackendOptions& options) {
  buffer_count_ = options.receive_buffers;
  buffer_bytes_ = options.receive_buffer_bytes;
  // From the best to what Linux 6.0 has.
  constexpr unsigned common = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL;
  constexpr unsigned attempts[] = {
      common | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,  // 6.1
      common | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,   // 6.0
  };
  int status = -EINVAL;
  for (const unsigned flags : attempts) {
    io_uring_params parameters{};
    parameters.flags = flags;
    parameters.cq_entries = completion_entries;
    status = ::io_uring_queue_init_params(submission_entries, &ring_, &parameters);
    if (status != -EINVAL) break;
  }
  if (status < 0) return os_failure(-status, "set up an io_uring");
  is_open_ = true;
  ::io_uring_ring_dontfork(&ring_);
  return open_receive_buffers();
}

Result<void> UringRing::open_receive_buffers() {
  SENNIT_ASSERT(
      buffer_count_ > 0 && buffer_count_ <= 32768 && (buffer_count_ & (buffer_count_ - 1)) == 0,
      buffer_count_);
  buffer_ring_ = static_cast<io_uring_buf_ring*>(map(buffer_count_ * sizeof(io_uring_buf)));
  if (buffer_ring_ == nullptr) return os_failure(errno, "map a buffer ring");
  buffers_ = static_cast<char*>(map(buffer_count_ * buffer_bytes_));
  if (buffers_ == nullptr) return os_failure(errno, "map receive buffers");

  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(buffer_ring_);
  registration.ring_entries = buffer_count_;
  registration.bgid = buffer_group;
  if (const int status = ::io_uring_register_buf_ring(&ring_, &registration, 0); status != 0) {
    return os_failure(-status, "register receive buffers");
  }
  ::io_uring_buf_ring_init(buffer_ring_);
  for (unsigned i = 0; i < buffer_count_; ++i) add_buffer(i, static_cast<int>(i));
  ::io_uring_buf_ring_advance(buffer_ring_, static_cast<int>(buffer_count_));
  return {};
}

UringRing::~UringRing() {
  if (is_open_) {
    close_unsubmitted();
    ::io_uring_queue_exit(&ring_);
  }
  if (buffer_ring_ != nullptr) ::munmap(buffer_ring_, buffer_count_ * sizeof(io_uring_buf));
  if (buffers_ != nullptr) ::munmap(buffers_, buffer_count_ * buffer_bytes_);
}

void UringRing::close_unsubmitted() {
  const unsigned count = ::io_uring_sq_ready(&ring_);
  for (unsigned i = ring_.sq.sqe_tail - count; i != ring_.sq.sqe_tail; ++i) {
    const io_uring_sqe& entry = ring_.sq.sqes[i & *ring_.sq.kring_mask];
    if (entry.opcode == IORING_OP_CLOSE) ::close(entry.fd);
  }
  for (const io_uring_sqe& entry : backlog_) {
    if (entry.opcode == IORING_OP_CLOSE) ::close(entry.fd);
  }
}

io_uring_sqe* UringRing::next_entry() {
  if (backlog_.empty()) {
    if (io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_)) return entry;
  }
  return &backlog_.emplace_back();
}

bool UringRing::submit_backlog() {
  while (!backlog_.empty()) {
    io_uring_sqe* const entry = ::io_uring_get_sqe(&ring_);
    if (entry == nullptr) {
      if (::io_uring_submit(&ring_) <= 0) return false;
      continue;
    }
    *entry = backlog_.front();
    backlog_.pop_front();
  }
  return true;
}

void UringRing::add_buffer(unsigned buffer, int offset) {
  ::io_uring_buf_ring_add(buffer_ring_, buffers_ + buffer * buffer_bytes_,
                          static_cast<unsigned>(buffer_bytes_), static_cast<unsigned short>(buffer),
                          ::io_uring_buf_ring_mask(buffer_count_), offset);
}

void UringRing::give_back_buffer(std::uint32_t flags) {
  add_buffer(flags >> IORING_CQE_BUFFER_SHIFT, returned_buffers_++);
}

void UringRing::show_returned_buffers() {
  if (returned_buffers_ == 0) return;
  ::io_uring_buf_ring_advance(buffer_ring_, returned_buffers_);
  returned_buffers_ = 0;
}

}  // namespace sennit::runtime::io::detail
