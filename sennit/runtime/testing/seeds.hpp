#pragma once
// for_each_seed: a GoogleTest body, once for each of many seeds.
//
//   TEST(Transfer, ArrivesWhateverTheNetworkDoes) {
//     for_each_seed(1000, [](std::uint64_t seed) {
//       Simulation sim({.seed = seed});
//       ...
//     });
//   }
//
// It ends at the first seed that fails and says how to replay it: with SENNIT_SEED=n in the
// environment only that seed runs. Under sanitizers it runs a twentieth of the seeds.

#include <cstdint>
#include <gtest/gtest.h>
#include <string>

#include "sennit/runtime/testing/simulation.hpp"

namespace sennit::runtime::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

template <class Body>
void for_each_seed(std::uint64_t count, const Body& body) {
  const std::uint64_t only = seed_from_environment();
  if (is_sanitized) count = count / 20 + 1;
  const std::uint64_t first = only == 0 ? 1 : only;
  for (std::uint64_t seed = first; seed < first + (only == 0 ? count : 1); ++seed) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                       "SENNIT_SEED=" + std::to_string(seed) + " replays this");
    const SeedOnAbort on_abort(seed);
    body(seed);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace sennit::runtime::testing
