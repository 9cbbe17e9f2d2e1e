#include "sennit/runtime/detail/frame_slabs.hpp"

#include <new>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime::detail {

FrameSlabs::~FrameSlabs() {
  for (Free* head : free_) {
    while (head != nullptr) {
      Free* const next = head->next;
      ::operator delete(reinterpret_cast<Header*>(head) - 1);
      head = next;
    }
  }
}

void* FrameSlabs::allocate(std::size_t bytes) {
  Worker* const worker = Worker::current();
  const std::size_t size_class = (bytes + class_bytes - 1) / class_bytes - 1;
  if (worker == nullptr || size_class >= classes) {
    auto* header = static_cast<Header*>(::operator new(sizeof(Header) + bytes));
    *header = {nullptr, 0};
    return header + 1;
  }
  FrameSlabs& slabs = worker->frames();
  if (Free* const kept = slabs.free_[size_class]; kept != nullptr) {
    slabs.free_[size_class] = kept->next;
    --slabs.kept_[size_class];
    return kept;
  }
  auto* header =
      static_cast<Header*>(::operator new(sizeof(Header) + (size_class + 1) * class_bytes));
  *header = {&slabs, size_class};
  return header + 1;
}

void FrameSlabs::free(void* frame) noexcept {
  auto* const header = static_cast<Header*>(frame) - 1;
  Worker* const worker = Worker::current();
  if (header->owner == nullptr || worker == nullptr) return ::operator delete(header);
  FrameSlabs& slabs = *header->owner;
  SENNIT_ASSERT(&worker->frames() == &slabs && "a Task is destroyed on the worker it was made on");
  const std::size_t size_class = header->size_class;
  if (slabs.kept_[size_class] >= kept_max) return ::operator delete(header);
  slabs.free_[size_class] = new (frame) Free{slabs.free_[size_class]};
  ++slabs.kept_[size_class];
}

}  // namespace sennit::runtime::detail
