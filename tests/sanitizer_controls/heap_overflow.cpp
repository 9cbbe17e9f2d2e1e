// A defect on purpose: one write behind a heap block, in a plain function and then on a fiber.
// AddressSanitizer must report each; a sanitizer that has gone silent is noticed here.
//
//   heap_overflow plain | fiber

#include <cstdio>
#include <string_view>

#include "sennit/fiber/fiber.hpp"
#include "sennit/fiber/stack_pool.hpp"

namespace sennit {
namespace {

volatile char* volatile block = nullptr;

void overflow() {
  // Known to the rest of the program, or the optimiser removes the defect.
  block = new char[16];
  block[16] = 1;
  delete[] block;
}

}  // namespace
}  // namespace sennit

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "fiber") {
    sennit::fiber::StackPool pool({.usable_bytes = std::size_t{256} * 1024});
    sennit::fiber::Fiber fiber(std::move(*pool.acquire()));
    fiber.start([](void*) noexcept { sennit::overflow(); }, nullptr);
  } else {
    sennit::overflow();
  }
  std::puts("the overflow was not reported");
  return 0;
}
