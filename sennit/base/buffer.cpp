#include "sennit/base/buffer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sennit/base/assert.hpp"

namespace sennit {
namespace {
constexpr std::size_t capacity_min = 256;
}

Buffer::Buffer(Buffer&& other) noexcept
    : memory_(std::move(other.memory_)),
      capacity_(std::exchange(other.capacity_, 0)),
      begin_(std::exchange(other.begin_, 0)),
      end_(std::exchange(other.end_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  memory_ = std::move(other.memory_);
  capacity_ = std::exchange(other.capacity_, 0);
  begin_ = std::exchange(other.begin_, 0);
  end_ = std::exchange(other.end_, 0);
  return *this;
}

void Buffer::append(std::string_view text) {
  if (text.empty()) return;
  if (capacity_ - end_ < text.size()) make_room(text.size());
  std::memcpy(memory_.get() + end_, text.data(), text.size());
  end_ += text.size();
}

std::span<char> Buffer::prepare(std::size_t bytes) {
  if (capacity_ - end_ < bytes) make_room(bytes);
  return {memory_.get() + end_, capacity_ - end_};
}

void Buffer::commit(std::size_t bytes) {
  SENNIT_ASSERT(bytes <= capacity_ - end_, bytes, capacity_, end_);
  end_ += bytes;
}

void Buffer::consume(std::size_t bytes) {
  SENNIT_ASSERT(bytes <= size(), bytes, size());
  begin_ += bytes;
  if (begin_ == end_) clear();
}

void Buffer::release() {
  memory_.reset();
  capacity_ = begin_ = end_ = 0;
}

// Moves the bytes to the front when that alone makes room for cheap, else doubles.
void Buffer::make_room(std::size_t bytes) {
  const std::size_t used = size();
  if (capacity_ - used >= bytes && used <= capacity_ / 2) {
    std::memmove(memory_.get(), memory_.get() + begin_, used);
  } else {
    const std::size_t wanted = std::max({used + bytes, capacity_ * 2, capacity_min});
    auto larger = std::make_unique_for_overwrite<char[]>(wanted);
    if (used > 0) std::memcpy(larger.get(), memory_.get() + begin_, used);
    memory_ = std::move(larger);
    capacity_ = wanted;
  }
  begin_ = 0;
  end_ = used;
}

}  // namespace sennit
