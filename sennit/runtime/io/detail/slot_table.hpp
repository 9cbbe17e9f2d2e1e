#pragma once
// The descriptors of one backend: slots that are reused, with a generation that is not.

#include <cstdint>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/io/backend.hpp"

namespace sennit::runtime::io::detail {

/// `Slot` is default-constructible and has a member `std::uint32_t generation`.
template <class Slot>
class SlotTable {
 public:
  Socket add() {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return {index, slots_[index].generation};
  }
  void remove(Socket socket) {
    const std::uint32_t generation = at(socket).generation + 1;
    slots_[socket.slot] = Slot{};
    slots_[socket.slot].generation = generation;
    free_.push_back(socket.slot);
  }
  [[nodiscard]] bool is_current(Socket socket) const {
    return socket.slot < slots_.size() && slots_[socket.slot].generation == socket.generation;
  }
  [[nodiscard]] Slot& at(Socket socket) {
    SENNIT_ASSERT(is_current(socket), socket.slot, socket.generation);
    return slots_[socket.slot];
  }
  [[nodiscard]] const Slot& at(Socket socket) const {
    SENNIT_ASSERT(is_current(socket), socket.slot, socket.generation);
    return slots_[socket.slot];
  }
  [[nodiscard]] std::size_t used_count() const { return slots_.size() - free_.size(); }
  std::vector<Slot>& all() { return slots_; }

 private:
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace sennit::runtime::io::detail
