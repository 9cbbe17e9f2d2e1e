#pragma once
// UringRing: the rings that UringBackend shares with the kernel, opened, filled and given up.
//
// Closing a descriptor is a submission like any other. What was never submitted, because nobody
// polled any more or because the ring dies on another thread than its own (which may not submit),
// is closed by hand.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <liburing.h>
#include <string_view>

#include "sennit/base/result.hpp"
#include "sennit/runtime/io/backend.hpp"

namespace sennit::runtime::io::detail {

class UringRing {
 public:
  static constexpr int buffer_group = 0;

  UringRing() = default;
  ~UringRing();
  UringRing(const UringRing&) = delete;
  UringRing& operator=(const UringRing&) = delete;

  /// Sets up the rings and the receive buffers. Errors: what the kernel refuses.
  Result<void> open(const BackendOptions& options);

  [[nodiscard]] io_uring& get() { return ring_; }
  /// A submission to fill before the next call.
  [[nodiscard]] io_uring_sqe* next_entry();
  /// Hands over what has not fitted into the ring; false if the kernel will not take all of it now.
  /// What is in the ring itself is left for whoever polls.
  [[nodiscard]] bool submit_backlog();

  /// What a completion with these flags received.
  [[nodiscard]] std::string_view received(std::uint32_t flags, std::size_t bytes) const {
    return {buffer_of(flags), bytes};
  }
  /// Lends the buffer of such a completion again, from the next show_returned_buffers() on.
  void give_back_buffer(std::uint32_t flags);
  void show_returned_buffers();

 private:
  Result<void> open_receive_buffers();
  void add_buffer(unsigned buffer, int offset);
  void close_unsubmitted();
  [[nodiscard]] char* buffer_of(std::uint32_t flags) const {
    return buffers_ + (flags >> IORING_CQE_BUFFER_SHIFT) * buffer_bytes_;
  }

  io_uring ring_{};
  std::deque<io_uring_sqe> backlog_;  // In order; behind all that is in the ring.
  bool is_open_ = false;
  unsigned buffer_count_ = 0;
  std::size_t buffer_bytes_ = 0;
  io_uring_buf_ring* buffer_ring_ = nullptr;
  char* buffers_ = nullptr;
  int returned_buffers_ = 0;  // Put back into the ring but not yet shown to the kernel.
};

}  // namespace sennit::runtime::io::detail
