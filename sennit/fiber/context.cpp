#include "sennit/fiber/context.hpp"

#include <cstdint>
#include <cstring>

#include "sennit/base/assert.hpp"

extern "C" void sennit_context_start();

namespace sennit::fiber {
namespace {

// What sennit_switch_context pops, in order from the low address. The slot that carries the entry
// function is a register that sennit_context_start finds it in.
struct InitialFrame {
#if defined(__x86_64__)
  void* r15_to_r12[4] = {};
  Entry entry;  // rbx
  void* rbp = nullptr;
  void (*start)();
#elif defined(__aarch64__)
  void* d8_to_d15[8] = {};
  Entry entry;  // x19
  void* x20_to_x29[10] = {};
  void (*start)();  // x30
#else
#error "context switches are written for x86-64 and aarch64 only"
#endif
};

}  // namespace

void* make_context(std::span<std::byte> stack, Entry entry) {
  SENNIT_ASSERT(stack.size() >= 256, stack.size());
  const auto top = reinterpret_cast<std::uintptr_t>(stack.data() + stack.size()) & ~UINT64_C(15);
  InitialFrame frame{};
  frame.entry = entry;
  frame.start = &sennit_context_start;
  // At sennit_context_start the stack pointer is a multiple of 16, as it is before any call.
  auto* place = reinterpret_cast<std::byte*>(top) - sizeof(InitialFrame);
  std::memcpy(place, &frame, sizeof frame);
  return place;
}

}  // namespace sennit::fiber
