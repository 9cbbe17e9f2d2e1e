#include "sennit/fiber/slab_stacks.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/mman.h>
#include <vector>

#include "sennit/base/assert.hpp"
#include "sennit/fiber/detail/guarded_regions.hpp"
#include "sennit/fiber/detail/pages.hpp"
#include "sennit/fiber/stack.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

namespace sennit::fiber {
namespace {

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::size_t slab_bytes_max = std::size_t{256} << 20;  // Unless one stack needs more.
constexpr std::size_t slab_stacks_min = 16;
constexpr std::size_t usable_bytes_max = std::size_t{1} << 46;  // No address space has more.

// Tells valgrind that a jump into these bytes is a change of stacks. Free of cost without it.
unsigned register_stack([[maybe_unused]] std::byte* low, [[maybe_unused]] std::size_t bytes) {
#ifdef VALGRIND_STACK_REGISTER
  return VALGRIND_STACK_REGISTER(low, low + bytes);
#else
  return 0;
#endif
}
void deregister_stack([[maybe_unused]] unsigned id) {
#ifdef VALGRIND_STACK_DEREGISTER
  VALGRIND_STACK_DEREGISTER(id);
#endif
}

detail::RegionShape shape_of(std::size_t usable_bytes, std::size_t stacks, bool huge_pages) {
  detail::RegionShape shape{.begin = nullptr,
                            .bytes = 0,
                            .stride = usable_bytes,
                            .guard_bytes = 0,
                            .usable_bytes = usable_bytes};
  const std::size_t page = detail::page_bytes();
  if (!huge_pages) {
    shape.guard_bytes = usable_bytes / page % 2 == 0 ? page : 2 * page;
    shape.stride += shape.guard_bytes;
  }
  const std::size_t fitting = std::max<std::size_t>(slab_bytes_max / shape.stride, 1);
  shape.bytes = std::min(stacks, fitting) * shape.stride;
  if (huge_pages) {
    shape.bytes = (shape.bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  }
  return shape;
}

Result<std::byte*> map_slab(std::size_t bytes, bool huge_pages) {
  const std::size_t mapped_bytes = huge_pages ? bytes + huge_page_bytes : bytes;
  void* const low = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (low == MAP_FAILED) return os_failure(errno, "map fiber stacks");
  auto* begin = static_cast<std::byte*>(low);
  if (huge_pages) {  // Keep the part that is aligned.
    const auto misplaced = reinterpret_cast<std::uintptr_t>(low) % huge_page_bytes;
    const std::size_t before = misplaced == 0 ? 0 : huge_page_bytes - misplaced;
    if (before > 0) ::munmap(begin, before);
    begin += before;
    ::munmap(begin + bytes, huge_page_bytes - before);
  }
  ::madvise(begin, bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  return begin;
}

void fill_first_pages(std::size_t usable_bytes, std::span<std::byte* const> stacks) {
  const std::size_t page = detail::page_bytes();
  std::vector<std::byte*> tops(stacks.begin(), stacks.end());
  for (std::byte*& top : tops) top += usable_bytes - page;
  detail::populate({tops, page});
}

}  // namespace

class SlabStacks::Slab {
 public:
  explicit Slab(const detail::RegionShape& shape)
      : shape_(shape), region_(shape), stacks_(shape.bytes / shape.stride) {
    free_.reserve(stacks_);
  }
  ~Slab() {
    for (const unsigned id : valgrind_ids_) deregister_stack(id);
    ::munmap(shape_.begin, shape_.bytes);
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  [[nodiscard]] std::size_t usable_bytes() const { return shape_.usable_bytes; }
  [[nodiscard]] std::size_t stacks() const { return stacks_; }
  [[nodiscard]] std::size_t room() const { return free_.size() + (stacks_ - fresh_); }
  [[nodiscard]] bool is_unused() const { return room() == stacks_; }
  [[nodiscard]] bool holds(const std::byte* low) const { return low < shape_.begin + shape_.bytes; }

  Result<std::size_t> take(std::span<std::byte*> room) {
    std::size_t count = std::min(room.size(), free_.size());
    if (count > 0) {  // These are guarded already.
      std::copy(free_.end() - static_cast<std::ptrdiff_t>(count), free_.end(), room.begin());
      free_.resize(free_.size() - count);
    } else {
      count = std::min(room.size(), stacks_ - fresh_);
      if (auto prepared = prepare(room.first(count)); !prepared) {
        return failure(std::move(prepared).error());
      }
    }
    return count;
  }
  void put_back(std::byte* low) { free_.push_back(low); }  // Within what was reserved.

 private:
  Result<void> prepare(std::span<std::byte*> stacks) {
    std::byte* const begin = shape_.begin + fresh_ * shape_.stride;
    for (std::size_t i = 0; i < stacks.size(); ++i) stacks[i] = begin + i * shape_.stride;
    if (shape_.guard_bytes > 0) {
      auto guarded = detail::guard({stacks, shape_.guard_bytes});
      if (!guarded) return guarded;
    }
    for (std::byte*& low : stacks) {
      low += shape_.guard_bytes;
      valgrind_ids_.push_back(register_stack(low, shape_.usable_bytes));
    }
    fresh_ += stacks.size();
    return {};
  }

  const detail::RegionShape shape_;
  const detail::GuardedRegion region_;
  const std::size_t stacks_;
  std::size_t fresh_ = 0;  // So many have been lent at least once; the others have no guard yet.
  std::vector<std::byte*> free_;
  std::vector<unsigned> valgrind_ids_;
};

SlabStacks::SlabStacks() : SlabStacks(Options{}) {}
SlabStacks::SlabStacks(Options options) : options_(options) {
  SENNIT_ASSERT(options.slab_stacks_max > 0);
}

SlabStacks::~SlabStacks() { SENNIT_ASSERT(slabs_.empty(), slabs_.size()); }

std::size_t SlabStacks::slab_count() const {
  const std::lock_guard lock(mutex_);
  return slabs_.size();
}

// The lowest slab that has room; else a new one, as large as all that there are.
Result<SlabStacks::Slab*> SlabStacks::slab_with_room(std::size_t usable_bytes) {
  std::size_t stacks = 0;
  for (const auto& [begin, slab] : slabs_) {
    if (slab->usable_bytes() != usable_bytes) continue;
    if (slab->room() > 0) return slab.get();
    stacks += slab->stacks();
  }
  if (usable_bytes > usable_bytes_max) {
    return failure(Errc::out_of_memory,
                   "map fiber stacks of " + std::to_string(usable_bytes) + " bytes");
  }
  stacks = std::min(options_.slab_stacks_max, std::max(slab_stacks_min, stacks));
  detail::RegionShape shape = shape_of(usable_bytes, stacks, options_.huge_pages);
  SENNIT_TRY(shape.begin, map_slab(shape.bytes, options_.huge_pages));
  auto slab = std::make_unique<Slab>(shape);
  return slabs_.emplace(shape.begin, std::move(slab)).first->second.get();
}

Result<std::size_t> SlabStacks::allocate(std::size_t usable_bytes, std::span<std::byte*> room) {
  const std::lock_guard lock(mutex_);
  SENNIT_TRY(Slab* const slab, slab_with_room(usable_bytes));
  auto taken = slab->take(room);
  // A single stack is not worth a system call: its first touch costs no more.
  if (taken && *taken > 1 && options_.fills_first_pages && !options_.huge_pages) {
    fill_first_pages(usable_bytes, room.first(*taken));
  }
  if (!taken.has_value() && slab->is_unused()) {
    std::erase_if(slabs_, [slab](const auto& entry) { return entry.second.get() == slab; });
  }
  return taken;
}

void SlabStacks::deallocate(std::size_t usable_bytes, std::span<std::byte* const> stacks) noexcept {
  detail::discard({stacks, usable_bytes});  // Before anybody else can get one of them.
  const std::lock_guard lock(mutex_);
  for (std::byte* const low : stacks) {
    const auto entry = std::prev(slabs_.upper_bound(low));
    SENNIT_ASSERT(entry->second->holds(low), low);
    entry->second->put_back(low);
    if (entry->second->is_unused()) slabs_.erase(entry);
  }
}

}  // namespace sennit::fiber
