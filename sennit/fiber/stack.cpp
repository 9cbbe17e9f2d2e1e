#include "sennit/fiber/stack.hpp"

#include <algorithm>
#include <new>
#include <sys/mman.h>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/fiber/detail/pages.hpp"

namespace sennit::fiber {

Stack Stack::on(std::span<std::byte> memory) {
  SENNIT_ASSERT(memory.size() >= bytes_min, memory.size());
  constexpr std::size_t alignment = 64;
  const auto misplaced = reinterpret_cast<std::uintptr_t>(memory.data()) % alignment;
  std::byte* const place = memory.data() + (misplaced == 0 ? 0 : alignment - misplaced);
  std::byte* const low = place + alignment;
  static_assert(sizeof(StackSource) <= alignment);
  auto* const source = new (place)
      StackSource{.usable_bytes = static_cast<std::size_t>(memory.data() + memory.size() - low),
                  .take_back = [](StackSource&, std::byte*) noexcept {}};
  return {*source, low};
}

std::size_t Stack::used_bytes_max() const {
  const std::size_t page = detail::page_bytes();
  std::byte* const end = low_ + source_->usable_bytes;
  const auto misplaced = reinterpret_cast<std::uintptr_t>(low_) % page;
  std::byte* const low = low_ - misplaced;
  const std::size_t pages = (static_cast<std::size_t>(end - low) + page - 1) / page;
  std::vector<unsigned char> resident(pages);
  if (::mincore(low, pages * page, resident.data()) != 0) return 0;
  const auto lowest = std::ranges::find_if(resident, [](unsigned char bits) { return bits & 1; });
  if (lowest == resident.end()) return 0;
  std::byte* const used = low + static_cast<std::size_t>(lowest - resident.begin()) * page;
  return static_cast<std::size_t>(end - std::max(used, low_));
}

}  // namespace sennit::fiber
