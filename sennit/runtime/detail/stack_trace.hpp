#pragma once
// Stack traces: return addresses first, names later and elsewhere, as a fiber's stack is short.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sennit::runtime::detail {

/// What taking a trace needs of a stack, with room to spare for sanitizers' frames.
inline constexpr std::ptrdiff_t trace_stack_bytes = std::ptrdiff_t{16} * 1024;
inline constexpr std::size_t trace_frames_max = 64;

/// The frames of the caller's stack that lie in `stack`, innermost first: addresses within the
/// calls that are waited for.
[[nodiscard]] std::vector<const void*> trace_stack(std::span<const std::byte> stack);

/// Says what is at an address: "sennit::net::serve(int) (serve.cpp:120)". Built with libdw it finds
/// every function of a program that was not stripped, and lines where there is debug information;
/// without it only what is exported. Costs milliseconds to make. Thread safety: none.
class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// In hexadecimal if nothing is known of it.
  [[nodiscard]] std::string describe(const void* address) const;
  /// Whether functions that are not exported are found.
  [[nodiscard]] static bool is_complete();

 private:
  struct Modules;
  Modules* modules_ = nullptr;
};

}  // namespace sennit::runtime::detail
