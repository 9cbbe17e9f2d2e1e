#pragma once
// EXPECT_FASTER(a, b, ratio): that `a` takes at most 1/ratio of the time of `b`, on a noisy
// machine.
//
//   const auto ours = [&] { table.find(key); };
//   const auto theirs = [&] { map.find(key); };
//   EXPECT_FASTER(ours, theirs, 1.5);
//
// Both run in turns, a few milliseconds each, so that whatever slows the machine down hits both;
// each round gives one ratio. After 16, 32, 64 and 128 rounds the interval that holds the median
// ratio is looked at. It ends in
//
//   pass           the whole interval is at or above `ratio`;
//   fail           the whole interval is below it: a failure of the test, which goes on;
//   inconclusive   neither after the last round: the test is marked as skipped, or fails with the
//                  flag --inconclusive_fails.
//
// A pass or a fail is wrong at most once in a hundred times over all four looks together: each uses
// an interval of 99.75 % confidence.
//
// Thread safety: as GoogleTest's assertions, from the test's thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "sennit/perftest/do_not_optimize.hpp"
#include "sennit/perftest/statistics.hpp"

namespace sennit {
class Clock;  // base/time.hpp, whose <chrono> every performance test would have to compile.
}

namespace sennit::perftest {

enum class Verdict : unsigned char { pass, fail, inconclusive };

/// The verdict after the rounds so far, each ratio being the time of b over that of a. Pass and
/// fail are final.
[[nodiscard]] Verdict judge(std::span<const double> ratios, double wanted);

struct FasterResult {
  Verdict verdict;
  double ratio;                      // The median of the rounds.
  std::optional<Interval> interval;  // At 99.75 %.
  int rounds;
};

/// Calls something so many times.
using Repeat = std::function<void(std::uint64_t times)>;

/// Runs the rounds. Requires wanted > 0.
[[nodiscard]] FasterResult compare_in_turns(const Repeat& a, const Repeat& b, double wanted,
                                            const Clock& clock);

/// "a is 1.52 times as fast as b (1.49 to 1.55 with 99.75 % confidence after 16 rounds); ..."
[[nodiscard]] std::string describe(const FasterResult& result, double wanted, const char* a,
                                   const char* b);

namespace detail {

void expect_faster(const Repeat& a, const Repeat& b, double wanted, const char* a_text,
                   const char* b_text, const char* file, int line);

template <class Function>
Repeat repeat(Function& function) {
  return [&function](std::uint64_t times) {
    for (; times > 0; --times) {
      if constexpr (std::is_void_v<std::invoke_result_t<Function&>>) {
        function();
      } else {
        do_not_optimize(function());
      }
      clobber_memory();
    }
  };
}

}  // namespace detail
}  // namespace sennit::perftest

#define EXPECT_FASTER(a, b, ratio)                                                                \
  ::sennit::perftest::detail::expect_faster(::sennit::perftest::detail::repeat(a),                \
                                            ::sennit::perftest::detail::repeat(b), ratio, #a, #b, \
                                            __FILE__, __LINE__)
