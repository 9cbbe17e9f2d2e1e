#pragma once
// The same work on fibers of several makes, for comparison: many that give control back for ever.
//
//   start()      makes and starts all of them; each runs until it first gives control back
//   switch_all() one resume and one yield of each, in order
//   end()        lets each run to its end and destroys it; start() may follow
//
// Thread safety: none, and one object at a time.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#ifdef SENNIT_HAS_BOOST_FIBER
#include <boost/context/fiber.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#endif

#include "sennit/fiber/context.hpp"
#include "sennit/fiber/fiber.hpp"
#include "sennit/fiber/stack_pool.hpp"

namespace sennit::fiber::peers {

/// Room for `count` objects side by side, which come and go.
template <class T>
class Slots {
 public:
  explicit Slots(std::size_t count) : count_(count), slots_(std::allocator<T>().allocate(count)) {
    // Not part of what is measured: resident before the first fiber is.
    for (std::size_t i = 0; i < count * sizeof(T); i += 64) bytes()[i] = 0;
  }
  ~Slots() { std::allocator<T>().deallocate(slots_, count_); }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;
  [[nodiscard]] std::size_t size() const { return count_; }
  T* operator+(std::size_t i) const { return slots_ + i; }
  T& operator[](std::size_t i) const { return slots_[i]; }

 private:
  volatile char* bytes() { return reinterpret_cast<volatile char*>(slots_); }
  const std::size_t count_;
  T* const slots_;
};

class Ours {
 public:
  static constexpr const char* name = "ours: fiber";
  Ours(std::size_t count, std::size_t stack_bytes)
      : pool_({.usable_bytes = stack_bytes, .on_loan_max = count}), fibers_(count) {}
  void start() {
    ends_ = false;
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      Fiber* const fiber = std::construct_at(fibers_ + i, *pool_.acquire());
      fiber->start(&loop, fiber);
    }
  }
  void switch_all() {
    const std::size_t count = fibers_.size();
    for (std::size_t i = 0; i < count; ++i) {
      fibers_[i + ahead < count ? i + ahead : 0].prefetch();
      fibers_[i].resume();
    }
  }
  void end() {
    ends_ = true;
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      fibers_[i].resume();
      std::destroy_at(fibers_ + i);
    }
  }

 private:
  static constexpr std::size_t ahead = 6;
  static void loop(void* fiber) noexcept {
    while (!ends_) static_cast<Fiber*>(fiber)->suspend();
  }
  static inline bool ends_ = false;
  StackPool pool_;
  Slots<Fiber> fibers_;
};

/// Stacks that are mapped at once, each as large as the distance to the next; no guards.
class PlainStacks {
 public:
  PlainStacks(std::size_t count, std::size_t bytes) : count_(count), bytes_(bytes) {
    void* const low = ::mmap(nullptr, count * bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    SENNIT_ASSERT(low != MAP_FAILED);
    low_ = static_cast<std::byte*>(low);
    ::madvise(low, count * bytes, MADV_NOHUGEPAGE);
  }
  ~PlainStacks() { ::munmap(low_, count_ * bytes_); }
  PlainStacks(const PlainStacks&) = delete;
  PlainStacks& operator=(const PlainStacks&) = delete;
  std::byte* low(std::size_t i) { return low_ + i * bytes_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  const std::size_t count_, bytes_;
  std::byte* low_;
};

/// The floor: nothing but the switch; not even what a function keeps on its stack is touched.
class BareSwitch {
 public:
  static constexpr const char* name = "bare switch, bare stack";
  BareSwitch(std::size_t count, std::size_t stack_bytes)
      : stacks_(count, stack_bytes), contexts_(count) {}
  void start() {
    for (std::size_t i = 0; i < contexts_.size(); ++i) {
      contexts_[i] = make_context(stacks_.low(i) + stacks_.bytes(), &loop);
      switch_context(contexts_[i], nullptr);
    }
  }
  void switch_all() {
    for (std::size_t i = 0; i < contexts_.size(); ++i) switch_context(contexts_[i], nullptr);
  }
  void end() {}  // Nothing is alive on its stack.

 private:
  static void loop(Context* context, void*) {
    for (;;) switch_context(*context, nullptr);
  }
  PlainStacks stacks_;
  Slots<Context> contexts_;
};

class Ucontext {
 public:
  static constexpr const char* name = "ucontext";
  Ucontext(std::size_t count, std::size_t stack_bytes)
      : stacks_(count, stack_bytes), contexts_(count) {}
  void start() {
    for (current_ = 0; current_ < contexts_.size(); ++current_) {
      ucontext_t& context = contexts_[current_];
      ::getcontext(&context);
      context.uc_stack = {
          .ss_sp = stacks_.low(current_), .ss_flags = 0, .ss_size = stacks_.bytes()};
      context.uc_link = nullptr;
      ::makecontext(&context, reinterpret_cast<void (*)()>(&loop), 0);
      running_ = this;
      ::swapcontext(&outside_, &context);
    }
  }
  void switch_all() {
    for (current_ = 0; current_ < contexts_.size(); ++current_) {
      ::swapcontext(&outside_, &contexts_[current_]);
    }
  }
  void end() {}

 private:
  static void loop() {
    Ucontext& self = *running_;
    for (;;) ::swapcontext(&self.contexts_[self.current_], &self.outside_);
  }
  static inline Ucontext* running_ = nullptr;
  PlainStacks stacks_;
  Slots<ucontext_t> contexts_;
  ucontext_t outside_{};
  std::size_t current_ = 0;
};

#ifdef SENNIT_HAS_BOOST_FIBER
class BoostContext {
 public:
  static constexpr const char* name = "Boost.Context, pool";
  BoostContext(std::size_t count, std::size_t stack_bytes)
      : pool_(stack_bytes, std::min<std::size_t>(count, 256)), fibers_(count) {}
  void start() {
    ends_ = false;
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      fibers_[i] = boost::context::fiber(std::allocator_arg, pool_, &loop).resume();
    }
  }
  void switch_all() {
    for (auto& fiber : fibers_) fiber = std::move(fiber).resume();
  }
  void end() {
    ends_ = true;
    switch_all();
  }

 private:
  static boost::context::fiber loop(boost::context::fiber&& caller) {
    while (!ends_) caller = std::move(caller).resume();
    return std::move(caller);
  }
  static inline bool ends_ = false;
  boost::context::pooled_fixedsize_stack pool_;
  std::vector<boost::context::fiber> fibers_;
};

/// With its scheduler: each yields to the next.
class BoostFiber {
 public:
  static constexpr const char* name = "Boost.Fiber, pool";
  BoostFiber(std::size_t count, std::size_t stack_bytes)
      : pool_(stack_bytes, std::min<std::size_t>(count, 256)), fibers_(count) {}
  void start() {
    ends_ = false;
    for (auto& fiber : fibers_) {
      fiber = boost::fibers::fiber(boost::fibers::launch::post, std::allocator_arg, pool_, &loop);
    }
    boost::this_fiber::yield();  // Started here, as a start at once goes round all of them.
  }
  void switch_all() { boost::this_fiber::yield(); }
  void end() {
    ends_ = true;
    for (auto& fiber : fibers_) fiber.join();
  }

 private:
  static void loop() {
    while (!ends_) boost::this_fiber::yield();
  }
  static inline bool ends_ = false;
  boost::context::pooled_fixedsize_stack pool_;
  std::vector<boost::fibers::fiber> fibers_;
};
#endif

}  // namespace sennit::fiber::peers
