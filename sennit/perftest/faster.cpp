#include "sennit/perftest/faster.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sennit/base/assert.hpp"
#include "sennit/base/time.hpp"
#include "sennit/perftest/detail/session.hpp"
#include "sennit/perftest/detail/turn.hpp"

namespace sennit::perftest {
namespace {

constexpr double confidence = 0.9975;  // Of each of the four looks.
constexpr std::size_t first_look = 16;
constexpr std::size_t rounds_max = 128;
constexpr Duration turn_time = std::chrono::milliseconds(2);

using detail::time_of;
using detail::times_per_turn;

}  // namespace

Verdict judge(std::span<const double> ratios, double wanted) {
  const auto interval = median_interval({ratios.begin(), ratios.end()}, confidence);
  if (!interval) return Verdict::inconclusive;
  if (interval->low >= wanted) return Verdict::pass;
  if (interval->high < wanted) return Verdict::fail;
  return Verdict::inconclusive;
}

FasterResult compare_in_turns(const Repeat& a, const Repeat& b, double wanted, const Clock& clock) {
  SENNIT_ASSERT(wanted > 0, wanted);
  const std::uint64_t a_times = times_per_turn(a, turn_time, clock);
  const std::uint64_t b_times = times_per_turn(b, turn_time, clock);
  std::vector<double> ratios;
  Verdict verdict = Verdict::inconclusive;
  for (std::size_t look = first_look; look <= rounds_max; look *= 2) {
    while (ratios.size() < look) {
      Duration a_took{}, b_took{};
      const bool a_first = ratios.size() % 2 == 0;  // Neither always has the other's warm cache.
      if (a_first) a_took = time_of(a, a_times, clock);
      b_took = time_of(b, b_times, clock);
      if (!a_first) a_took = time_of(a, a_times, clock);
      const double a_ns = static_cast<double>(a_took.count()) / static_cast<double>(a_times);
      const double b_ns = static_cast<double>(b_took.count()) / static_cast<double>(b_times);
      ratios.push_back(b_ns / std::max(a_ns, 1e-6));
    }
    verdict = judge(ratios, wanted);
    if (verdict != Verdict::inconclusive) break;
  }
  return {verdict, median(ratios), median_interval(ratios, confidence),
          static_cast<int>(ratios.size())};
}

std::string describe(const FasterResult& result, double wanted, const char* a, const char* b) {
  const char* const words[] = {"as wanted", "too slow", "inconclusive"};
  return fmt::format(
      "{} is {:.3f} times as fast as {} ({:.3f} to {:.3f} with 99.75 % confidence after {} "
      "rounds); "
      "wanted at least {:.3f}: {}",
      a, result.ratio, b, result.interval ? result.interval->low : 0,
      result.interval ? result.interval->high : 0, result.rounds, wanted,
      words[static_cast<int>(result.verdict)]);
}

namespace detail {

void expect_faster(const Repeat& a, const Repeat& b, double wanted, const char* a_text,
                   const char* b_text, const char* file, int line) {
  const FasterResult result = compare_in_turns(a, b, wanted, RealClock());
  const std::string text = describe(result, wanted, a_text, b_text);
  const bool fails = result.verdict == Verdict::fail || (result.verdict == Verdict::inconclusive &&
                                                         session().flags.inconclusive_fails);
  if (fails) {
    ADD_FAILURE_AT(file, line) << text;
  } else if (result.verdict == Verdict::inconclusive) {
    ::testing::internal::AssertHelper(::testing::TestPartResult::kSkip, file, line, text.c_str()) =
        ::testing::Message();
  } else {
    fmt::print("     faster: {}\n", text);
  }
}

}  // namespace detail
}  // namespace sennit::perftest
