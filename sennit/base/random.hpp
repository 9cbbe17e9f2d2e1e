#pragma once
// Random numbers that a seed replays. Fast and well spread, not secret: never for keys or tokens.
//
// xoshiro256++ (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021), its
// state filled from the seed by SplitMix64. Thread safety: none; each worker has its own.

#include <cstdint>

namespace sennit {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  /// All 64 bits.
  std::uint64_t next();
  /// Uniform in [0, bound), without modulo bias (Lemire 2019). 0 for a bound of 0.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [low, high], both included. Requires low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high);
  /// Uniform in [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  // The standard's UniformRandomBitGenerator.
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }
  result_type operator()() { return next(); }

 private:
  std::uint64_t state_[4];
};

/// A seed from the kernel's entropy.
[[nodiscard]] std::uint64_t random_seed();

}  // namespace sennit
