#pragma once
// A stackful coroutine: a function that can stop in the middle and be continued.
//
//   fiber.start(run, argument)  --> run(argument) on the fiber's own stack
//   fiber.suspend()             <-- back to whoever started or resumed it
//   fiber.resume()              --> on from there
//   run returns                 <-- back; is_finished()
//
// A finished fiber keeps its stack and can be started again, which costs one switch: that is how
// the runtime borrows one per request. It knows no scheduler.
//
// Thread safety: none; a fiber is resumed only on the thread that first started it.

#include <cstddef>
#include <span>

#include "sennit/fiber/detail/sanitizers.hpp"
#include "sennit/fiber/stack_pool.hpp"

namespace sennit::fiber {

class Fiber {
 public:
  /// Must not throw: there is no caller to catch it, so an escaping exception terminates.
  using Function = void (*)(void* argument) noexcept;

  /// Bytes at the top of the stack that are kept for whoever owns the fiber (see storage()).
  static constexpr std::size_t storage_bytes = 256;

  explicit Fiber(Stack stack);
  ~Fiber();  // Requires is_finished(): a suspended stack holds objects that must be destroyed.
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs `run` until it first suspends or returns. Requires is_finished().
  void start(Function run, void* argument);
  /// Continues after suspend(). Requires that it is suspended.
  void resume();
  /// Gives control back. Must be called on this fiber; returns when resumed.
  void suspend();

  /// True before the first start and after each return of its function.
  [[nodiscard]] bool is_finished() const { return run_ == nullptr; }

  /// Aligned memory at the top of the fiber's own stack, for the arguments of what runs on it.
  [[nodiscard]] std::span<std::byte, storage_bytes> storage() const { return storage_; }

 private:
  static void enter(void* self);
  void switch_in();

  Function run_ = nullptr;  // Null when finished.
  void* argument_ = nullptr;
  void* context_ = nullptr;  // Where the fiber left off.
  void* resumer_ = nullptr;  // Where whoever resumed it left off.
  std::span<std::byte, storage_bytes> storage_;
  Stack stack_;
  void* exceptions_[2] = {};  // The fiber's own __cxa_eh_globals while it is suspended.
  [[no_unique_address]] detail::SanitizerStack own_;
  [[no_unique_address]] detail::SanitizerStack outer_;
};

}  // namespace sennit::fiber
