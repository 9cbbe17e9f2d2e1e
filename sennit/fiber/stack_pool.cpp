#include "sennit/fiber/stack_pool.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "sennit/base/assert.hpp"
#include "sennit/fiber/detail/pages.hpp"
#include "sennit/fiber/slab_stacks.hpp"

namespace sennit::fiber {
namespace {

// New stacks are made in batches that grow with the pool: their tops are resident from then on.
constexpr std::size_t batch_max = 64;
constexpr std::size_t trimmed_at_once_max = 256;

}  // namespace

StackPool::Class::Class(StackPool& its_pool, std::size_t bytes)
    : StackSource{.usable_bytes = bytes, .take_back = &StackPool::take_back}, pool(its_pool) {}

StackPool::StackPool(Options options)
    : options_(std::move(options)), usual_(*this, detail::whole_pages(options_.usable_bytes)) {
  if (options_.allocator == nullptr) options_.allocator = std::make_shared<SlabStacks>();
}

StackPool::~StackPool() {
  SENNIT_ASSERT(on_loan_count_ == 0, on_loan_count_);
  for_each_class([this](Class& each) { give_back(each, each.idle.size()); });
}

template <class F>
void StackPool::for_each_class(F function) {
  function(usual_);
  for (const auto& other : others_) function(*other);
}

std::size_t StackPool::idle_count() const {
  std::size_t count = usual_.idle.size();
  for (const auto& other : others_) count += other->idle.size();
  return count;
}

StackPool::Statistics StackPool::statistics() const {
  return {.on_loan_count = on_loan_count_,
          .on_loan_max_seen = std::max(on_loan_max_seen_, on_loan_count_),
          .idle_count = idle_count(),
          .bytes = bytes_,
          .lent_total = lent_total_,
          .made_total = made_total_,
          .given_back_total = given_back_total_,
          .refused_total = refused_total_};
}

StackPool::Class& StackPool::class_of(std::size_t usable_bytes) {
  if (usable_bytes > SIZE_MAX / 4) usable_bytes = SIZE_MAX / 4;  // Refused by whoever maps it.
  const std::size_t page = detail::page_bytes();
  const std::size_t bytes = std::bit_ceil(detail::whole_pages(usable_bytes) / page) * page;
  if (usable_bytes <= usual_.usable_bytes && bytes >= usual_.usable_bytes) return usual_;
  const auto found =
      std::ranges::find(others_, bytes, [](const auto& c) { return c->usable_bytes; });
  if (found != others_.end()) return **found;
  return *others_.emplace_back(std::make_unique<Class>(*this, bytes));
}

Result<Stack> StackPool::acquire(std::size_t usable_bytes) {
  Class& its_class = class_of(usable_bytes);
  if (its_class.idle.empty() || on_loan_count_ >= options_.on_loan_max) {
    return grow_and_lend(its_class);
  }
  return lend(its_class);
}

Result<void> StackPool::make_room_for(Class& its_class) {
  const auto fits = [&] {
    return bytes_ <= options_.bytes_max && its_class.usable_bytes <= options_.bytes_max - bytes_;
  };
  for_each_class([&](Class& each) {
    while (!fits() && !each.idle.empty()) give_back(each, 1);
  });
  if (fits()) return {};
  return failure(Errc::limit_reached, "lend a fiber stack of " +
                                          std::to_string(its_class.usable_bytes) +
                                          " bytes: " + std::to_string(bytes_) + " are in use");
}

Result<Stack> StackPool::grow_and_lend(Class& its_class) {
  Result<void> allowed = {};
  if (on_loan_count_ >= options_.on_loan_max) {
    allowed =
        failure(Errc::limit_reached,
                "lend a fiber stack: all " + std::to_string(options_.on_loan_max) + " are in use");
  } else {
    allowed = make_room_for(its_class);
  }
  std::array<std::byte*, batch_max> made;  // NOLINT: as far as allocate() fills it.
  Result<std::size_t> count = 0;
  if (allowed) {
    const std::size_t wanted = std::clamp<std::size_t>(
        std::min({its_class.stack_count / 2, options_.on_loan_max - on_loan_count_,
                  (options_.bytes_max - bytes_) / its_class.usable_bytes, options_.idle_max}),
        1, batch_max);
    count = options_.allocator->allocate(its_class.usable_bytes, std::span(made).first(wanted));
  }
  if (!allowed || !count) {
    ++refused_total_;
    return failure(allowed ? std::move(count).error() : std::move(allowed).error());
  }
  made_total_ += *count;
  bytes_ += *count * its_class.usable_bytes;
  its_class.stack_count += *count;
  if (its_class.idle.capacity() < its_class.stack_count) {
    its_class.idle.reserve(std::max(2 * its_class.idle.capacity(), its_class.stack_count));
  }
  its_class.idle.insert(its_class.idle.end(), std::reverse_iterator(made.begin() + *count),
                        std::reverse_iterator(made.begin()));
  return lend(its_class);
}

void StackPool::take_back(StackSource& source, std::byte* low) noexcept {
  auto& its_class = static_cast<Class&>(source);
  StackPool& pool = its_class.pool;
  if (pool.on_loan_count_ > pool.on_loan_max_seen_) pool.on_loan_max_seen_ = pool.on_loan_count_;
  --pool.on_loan_count_;
  its_class.idle.push_back(low);
  if (its_class.idle.size() > pool.options_.idle_max) [[unlikely]] {
    pool.give_back(its_class, its_class.idle.size() - pool.options_.idle_max);
  }
}

// From the front: these were returned longest ago.
void StackPool::give_back(Class& its_class, std::size_t count) noexcept {
  if (count == 0) return;
  options_.allocator->deallocate(its_class.usable_bytes, std::span(its_class.idle).first(count));
  its_class.idle.erase(its_class.idle.begin(),
                       its_class.idle.begin() + static_cast<std::ptrdiff_t>(count));
  its_class.stack_count -= count;
  bytes_ -= count * its_class.usable_bytes;
  given_back_total_ += count;
}

TimePoint StackPool::next_trim() const {
  if (has_surplus_) return TimePoint();
  return idle_count() == 0 ? TimePoint::max() : interval_end_;
}

void StackPool::trim(TimePoint now) {
  if (now < interval_end_ && !has_surplus_) return;
  if (now >= interval_end_) {
    const bool is_first = interval_end_ == TimePoint::min();
    interval_end_ = now + options_.interval;
    for_each_class([is_first](Class& each) {
      if (!is_first) each.last_peak = each.on_loan_peak;
      each.on_loan_peak = each.stack_count - each.idle.size();
    });
  }
  has_surplus_ = false;
  for_each_class([this](Class& each) {
    const std::size_t kept = std::max(each.last_peak, each.on_loan_peak);
    if (each.stack_count <= kept) return;
    const std::size_t surplus = each.stack_count - kept;  // All idle: on loan is at most the peak.
    give_back(each, std::min(surplus, trimmed_at_once_max));
    has_surplus_ = has_surplus_ || surplus > trimmed_at_once_max;
  });
}

}  // namespace sennit::fiber
