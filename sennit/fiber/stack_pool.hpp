#pragma once
// StackPool: stacks made once and lent many times.
//
// Lending is the pop of a list, and the stack returned last, whose top is most likely in cache, is
// lent first. The pool grows under load, several stacks at a time, and gives memory back when told
// the time: trim(now) keeps as many stacks as were on loan at once during the last interval (or
// are in this one) and gives the coldest of the others back to the allocator.
//
// Stacks of other sizes than the usual one come in classes, each twice the one before.
//
// Thread safety: none. Each worker owns a pool; a stack returns on the thread it was lent on.

#include <cstddef>
#include <memory>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/fiber/stack.hpp"
#include "sennit/fiber/stack_allocator.hpp"

namespace sennit::fiber {

class StackPool {
 public:
  struct Options {
    std::size_t usable_bytes = 64 * 1024;  // Rounded up to whole pages.
    std::size_t on_loan_max = 30'000;      // Safe without light guards; see slab_stacks.hpp.
    std::size_t idle_max = SIZE_MAX;       // Stacks returned beyond this are given back at once.
    std::size_t bytes_max = SIZE_MAX;      // Usable bytes of all stacks, on loan and idle.
    Duration interval = std::chrono::seconds(10);    // See trim().
    std::shared_ptr<StackAllocator> allocator = {};  // Null: SlabStacks of its own.
  };

  struct Statistics {
    std::size_t on_loan_count;
    std::size_t on_loan_max_seen;
    std::size_t idle_count;
    std::size_t bytes;  // Usable bytes of the stacks on loan and idle; not all are resident.
    std::uint64_t lent_total;
    std::uint64_t made_total;        // By the allocator; the others were lent again.
    std::uint64_t given_back_total;  // To the allocator.
    std::uint64_t refused_total;
  };

  explicit StackPool(Options options);
  ~StackPool();  // Requires that every stack has been returned.
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  /// Lends an idle stack of the usual size, or a new one.
  ///
  /// Errors: limit_reached when on_loan_max stacks are out, or when bytes_max are, after giving
  /// back what is idle in other classes; what the allocator says. None changes what is on loan.
  [[nodiscard]] Result<Stack> acquire();
  /// The same, with at least that many usable bytes (the usual size, or a power of two of pages).
  [[nodiscard]] Result<Stack> acquire(std::size_t usable_bytes);

  /// Gives back what was not needed at once during the last Options::interval. Costs a comparison
  /// when there is nothing to do, and gives back at most some 256 stacks a call, so that it can be
  /// called at each turn of a worker. The first call begins the first interval.
  void trim(TimePoint now);
  /// When trim() has something to do next: in the past if the last one did not finish, max() if
  /// nothing is idle.
  [[nodiscard]] TimePoint next_trim() const;

  [[nodiscard]] std::size_t usable_bytes() const { return usual_.usable_bytes; }
  [[nodiscard]] std::size_t on_loan_count() const { return on_loan_count_; }
  [[nodiscard]] std::size_t idle_count() const;
  [[nodiscard]] Statistics statistics() const;

 private:
  // Stacks of one size.
  struct Class : StackSource {
    Class(StackPool& its_pool, std::size_t bytes);
    StackPool& pool;
    std::vector<std::byte*> idle;      // Room for all, so that taking back never allocates.
    std::size_t stack_count = 0;       // On loan and idle.
    std::size_t on_loan_peak = 0;      // In this interval.
    std::size_t last_peak = SIZE_MAX;  // In the one before; everything, before there was one.
  };
  static void take_back(StackSource& source, std::byte* low) noexcept;

  Stack lend(Class& its_class);
  Result<Stack> grow_and_lend(Class& its_class);
  Result<void> make_room_for(Class& its_class);
  void give_back(Class& its_class, std::size_t count) noexcept;
  Class& class_of(std::size_t usable_bytes);
  template <class F>
  void for_each_class(F function);

  Options options_;
  std::size_t on_loan_count_ = 0;
  std::size_t on_loan_max_seen_ = 0;
  std::uint64_t lent_total_ = 0;
  Class usual_;
  std::vector<std::unique_ptr<Class>> others_;
  std::size_t bytes_ = 0;
  std::uint64_t made_total_ = 0, given_back_total_ = 0, refused_total_ = 0;
  bool has_surplus_ = false;  // The last trim() did not give back all.
  TimePoint interval_end_ = TimePoint::min();
};

inline Stack StackPool::lend(Class& its_class) {
  // So many loans later this stack's top will be touched; it takes that long to get it into cache.
  constexpr std::size_t ahead = 6;
  std::byte* const low = its_class.idle.back();
  its_class.idle.pop_back();
  if (its_class.idle.size() >= ahead) {
    const StackTop* const next = stack_top(
        its_class.idle.end()[-static_cast<std::ptrdiff_t>(ahead)], its_class.usable_bytes);
    __builtin_prefetch(reinterpret_cast<const std::byte*>(next) - 1, 1);
  }
  ++on_loan_count_;
  ++lent_total_;
  const std::size_t on_loan = its_class.stack_count - its_class.idle.size();
  if (on_loan > its_class.on_loan_peak) its_class.on_loan_peak = on_loan;
  return {its_class, low};
}

inline Result<Stack> StackPool::acquire() {
  if (usual_.idle.empty() || on_loan_count_ >= options_.on_loan_max) [[unlikely]] {
    return grow_and_lend(usual_);
  }
  return lend(usual_);
}

}  // namespace sennit::fiber
