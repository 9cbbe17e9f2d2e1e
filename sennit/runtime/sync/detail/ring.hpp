#pragma once
// A ring buffer of a fixed capacity, which may be 0. Thread safety: none.

#include <cstddef>
#include <memory>
#include <utility>

#include "sennit/base/assert.hpp"

namespace sennit::runtime::detail {

template <class T>
class Ring {
 public:
  explicit Ring(std::size_t capacity)
      : capacity_(capacity), slots_(capacity == 0 ? nullptr : Allocator().allocate(capacity)) {}
  ~Ring() {
    while (!empty()) (void)pop();
    if (slots_ != nullptr) Allocator().deallocate(slots_, capacity_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool full() const { return count_ == capacity_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// Requires !full().
  void push(T&& value) {
    SENNIT_ASSERT(!full());
    std::size_t at = first_ + count_;
    if (at >= capacity_) at -= capacity_;
    std::construct_at(slots_ + at, std::move(value));
    ++count_;
  }
  /// Requires !empty().
  T pop() {
    SENNIT_ASSERT(!empty());
    T* const slot = slots_ + first_;
    if (++first_ == capacity_) first_ = 0;
    --count_;
    T value = std::move(*slot);
    std::destroy_at(slot);
    return value;
  }

 private:
  using Allocator = std::allocator<T>;
  const std::size_t capacity_;
  T* const slots_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace sennit::runtime::detail
