#pragma once
// Memory for coroutine frames: a free list per size class, filled by what was freed before.
//
// Thread safety: none; each worker has its own. A frame made on a worker is freed on it, never on
// another (asserted); where there is no worker, as after Runtime::stop(), it goes back to the heap.

#include <array>
#include <cstddef>

namespace sennit::runtime::detail {

class FrameSlabs {
 public:
  FrameSlabs() = default;
  ~FrameSlabs();
  FrameSlabs(const FrameSlabs&) = delete;
  FrameSlabs& operator=(const FrameSlabs&) = delete;

  /// From the current worker's slabs if there is one. Throws std::bad_alloc as operator new does.
  static void* allocate(std::size_t bytes);
  static void free(void* frame) noexcept;

 private:
  static constexpr std::size_t class_bytes = 128, classes = 16;  // Frames up to 2 KiB are kept.
  static constexpr std::size_t kept_max = 4096;                  // Of each class: 8 MiB at most.

  struct Header {
    FrameSlabs* owner;  // Null: from the heap.
    std::size_t size_class;
  };
  struct Free {
    Free* next;
  };
  static_assert(sizeof(Header) % alignof(std::max_align_t) == 0);

  std::array<Free*, classes> free_{};
  std::array<std::size_t, classes> kept_{};
};

}  // namespace sennit::runtime::detail
