#include "sennit/fiber/detail/guarded_regions.hpp"

#include <cstdint>
#include <mutex>
#include <utility>

namespace sennit::fiber::detail {

struct GuardedRegion::Node {
  std::atomic<std::byte*> begin = nullptr;
  std::atomic<std::size_t> bytes = 0, stride = 0, guard_bytes = 0, usable_bytes = 0;
  Node* next = nullptr;         // In the list of all; constant once there.
  Node* next_unused = nullptr;  // Under the mutex.
};

namespace {

constinit std::mutex mutex;  // For those who change the list.

}  // namespace

// Functions, as the type is private to the class; both start out as null before any code runs.
template <class Node>
static std::atomic<Node*>& all_nodes() {
  static constinit std::atomic<Node*> head = nullptr;
  return head;
}
template <class Node>
static Node*& unused_nodes() {
  static constinit Node* head = nullptr;
  return head;
}

GuardedRegion::GuardedRegion(const RegionShape& shape) {
  const std::lock_guard lock(mutex);
  Node*& unused = unused_nodes<Node>();
  const bool is_new = unused == nullptr;
  node_ = is_new ? new Node : std::exchange(unused, unused->next_unused);
  node_->bytes = shape.bytes;
  node_->stride = shape.stride;
  node_->guard_bytes = shape.guard_bytes;
  node_->usable_bytes = shape.usable_bytes;
  node_->begin = shape.begin;
  if (is_new) {
    node_->next = all_nodes<Node>();
    all_nodes<Node>() = node_;
  }
}

GuardedRegion::~GuardedRegion() {
  if (node_ == nullptr) return;
  const std::lock_guard lock(mutex);
  node_->begin = nullptr;
  node_->next_unused = std::exchange(unused_nodes<Node>(), node_);
}

GuardedRegion::GuardedRegion(GuardedRegion&& other) noexcept
    : node_(std::exchange(other.node_, nullptr)) {}

std::optional<GuardedRegion::Found> GuardedRegion::find(const void* address) {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  for (const Node* node = all_nodes<Node>(); node != nullptr; node = node->next) {
    std::byte* const begin = node->begin;
    const std::uintptr_t offset = place - reinterpret_cast<std::uintptr_t>(begin);
    if (begin == nullptr || offset >= node->bytes) continue;
    const std::size_t stride = node->stride, guard_bytes = node->guard_bytes;
    return Found{.low = begin + offset / stride * stride + guard_bytes,
                 .usable_bytes = node->usable_bytes,
                 .is_guard = offset % stride < guard_bytes};
  }
  return std::nullopt;
}

}  // namespace sennit::fiber::detail
