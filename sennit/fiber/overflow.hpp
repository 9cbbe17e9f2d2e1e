#pragma once
// Stack overflows said as such: "stack overflow in fiber "resize image"", not a bare SIGSEGV.
//
//   int main() { const fiber::OverflowReports reports; ... }     on each thread that runs fibers
//
// A fault in the guard below a fiber's stack is written to the standard error output, with the name
// that the fiber was given (Fiber::set_name) and the size of its stack; then the signal's default
// action ends the process where it happened, so that a core dump shows it. Every other fault goes
// to the handler that was there before. The handler runs on a stack of its own, takes no lock and
// allocates nothing.
//
// A function whose frame is larger than the guard can step over it: compile with
// -fstack-clash-protection, which touches every page. Only stacks of SlabStacks have guards.
//
// Thread safety: any thread; an object belongs to the thread that made it. The handler stays for
// as long as the process lives; whoever installs another one after it should call it.

#include <string_view>

namespace sennit::fiber {

class OverflowReports {
 public:
  /// Installs the handler, once for the process, and gives this thread a stack to run it on if it
  /// has none. Where the kernel refuses, faults are as without it.
  /// `name_of_running` says what runs on the calling thread, for fibers that have no name; the last
  /// one given counts, for the whole process. It is called in a signal handler, on each thread.
  using NameOfRunning = std::string_view (*)() noexcept;
  explicit OverflowReports(NameOfRunning name_of_running = nullptr);
  ~OverflowReports();  // On the thread that made it, not on a fiber.
  OverflowReports(const OverflowReports&) = delete;
  OverflowReports& operator=(const OverflowReports&) = delete;

 private:
  void* signal_stack_ = nullptr;  // Null if this thread had one.
};

}  // namespace sennit::fiber
