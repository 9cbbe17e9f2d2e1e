#pragma once
// SENNIT_ASSERT(condition, values...): what must be true of our own program. Always on.
//
// A false condition is a defect, never the fault of a peer, a file or a user: it prints the
// condition, the place and each value, and aborts. Bytes from outside must never reach one; they
// get an Error (see result.hpp).

#include <fmt/core.h>
#include <string>
#include <type_traits>

namespace sennit::detail {

template <class T>
std::string describe(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return fmt::format("{}", static_cast<long long>(value));
  } else if constexpr (std::is_pointer_v<T> && !std::is_same_v<T, const char*>) {
    return fmt::format("{}", static_cast<const void*>(value));
  } else {
    return fmt::format("{}", value);
  }
}

struct AssertSite {
  const char* condition;
  const char* names;  // The value expressions as written, comma separated.
  const char* file;
  int line;
};

[[noreturn]] void assert_failed(const AssertSite& site, const std::string* values, int count);

template <class... T>
[[noreturn, gnu::cold, gnu::noinline]] void assert_failed(const AssertSite& site,
                                                          const T&... values) {
  const std::string texts[] = {describe(values)..., std::string()};
  assert_failed(site, texts, static_cast<int>(sizeof...(T)));
}

}  // namespace sennit::detail

#define SENNIT_ASSERT(condition, ...)                                                   \
  do {                                                                                  \
    if (!(condition)) [[unlikely]] {                                                    \
      ::sennit::detail::assert_failed(::sennit::detail::AssertSite{                     \
          #condition, "" #__VA_ARGS__, __FILE__, __LINE__} __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                                   \
  } while (false)
