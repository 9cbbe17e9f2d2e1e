#include "sennit/perftest/rounds.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/core.h>

#include "sennit/base/assert.hpp"
#include "sennit/base/time.hpp"
#include "sennit/perftest/detail/session.hpp"
#include "sennit/perftest/detail/turn.hpp"

namespace sennit::perftest {

void Rounds::add_repeat(std::string name, Repeat repeat, double items_per_call) {
  SENNIT_ASSERT(items_per_call > 0, name, items_per_call);
  SENNIT_ASSERT(std::ranges::find(contestants_, name, &Contestant::name) == contestants_.end(),
                name);
  contestants_.push_back({std::move(name), items_per_call, 0, {}, {}});
  repeats_.push_back(std::move(repeat));
}

std::span<const Rounds::Contestant> Rounds::measure(std::int64_t time_each_ns, const Clock& clock) {
  SENNIT_ASSERT(!contestants_.empty() && contestants_.front().calls == 0, contestants_.size());
  const Duration turn = Duration(time_each_ns) / rounds_wanted;
  std::vector<std::uint64_t> times;
  times.reserve(repeats_.size());
  for (const Repeat& repeat : repeats_) {
    times.push_back(detail::times_per_turn(repeat, turn, clock));
  }
  const Duration whole = Duration(time_each_ns) * static_cast<std::int64_t>(repeats_.size());
  const TimePoint begin = clock.now();
  for (int round = 0; round < rounds_wanted; ++round) {
    if (round >= rounds_least && clock.now() - begin >= whole) break;
    play(round, times, clock);
  }
  return contestants_;
}

void Rounds::play(int round, std::span<const std::uint64_t> times, const Clock& clock) {
  for (std::size_t i = 0; i < repeats_.size(); ++i) {
    const std::size_t turn = (i + static_cast<std::size_t>(round)) % repeats_.size();
    const Duration took = detail::time_of(repeats_[turn], times[turn], clock);
    Contestant& contestant = contestants_[turn];
    contestant.calls += times[turn];
    // What is over before the clock moves has taken something nevertheless.
    contestant.ns_per_call.push_back(std::max(static_cast<double>(took.count()), 0.5) /
                                     static_cast<double>(times[turn]));
  }
  const Contestant& first = contestants_.front();
  for (Contestant& contestant : contestants_) {
    contestant.ratios.push_back(contestant.ns_per_call.back() / contestant.items_per_call *
                                first.items_per_call / first.ns_per_call.back());
  }
}

std::span<const Rounds::Contestant> Rounds::run() {
  detail::Session& session = detail::session();
  const Settings settings = settle({}, session.flags);
  measure(std::int64_t{settings.time_ms} * 1'000'000, RealClock());
  fmt::print("{}", describe(contestants_));
  std::fflush(stdout);  // GoogleTest writes to the same stream by other means.
  const std::string test = detail::current_test_name();
  for (const Contestant& contestant : contestants_) {
    TestResult result{.name = test + "/" + contestant.name,
                      .settings = settings,
                      .measurement = {},
                      .beside = {}};
    double ns = 0;
    for (const double round_ns : contestant.ns_per_call) ns += round_ns;
    const auto rounds = static_cast<double>(contestant.ns_per_call.size());
    result.settings.items_per_call = contestant.items_per_call == 1 ? 0 : contestant.items_per_call;
    result.measurement.calls = contestant.calls;
    result.measurement.time =
        Duration(static_cast<std::int64_t>(ns / rounds * static_cast<double>(contestant.calls)));
    result.measurement.ns_per_call = contestant.ns_per_call;
    if (&contestant != &contestants_.front()) {
      result.beside = Beside{test + "/" + contestants_.front().name, contestant.ratios};
    }
    session.report.tests.push_back(std::move(result));
  }
  return contestants_;
}

const Rounds::Contestant& Rounds::operator[](std::string_view name) const {
  const auto found = std::ranges::find(contestants_, name, &Contestant::name);
  SENNIT_ASSERT(found != contestants_.end(), name);
  return *found;
}

std::string describe(std::span<const Rounds::Contestant> contestants) {
  std::size_t width = 11;
  for (const auto& contestant : contestants) width = std::max(width, contestant.name.size());
  std::string text;
  for (const auto& contestant : contestants) {
    text += fmt::format("{:>{}}: {}", contestant.name, width, readable(contestant.ns_per_item()));
    if (&contestant != &contestants.front()) {
      text += fmt::format(", {:.3g} times as long", contestant.ratio());
      const auto interval = contestant.interval();
      if (interval) text += fmt::format(" ({:.3g} to {:.3g})", interval->low, interval->high);
    }
    text += '\n';
  }
  return text;
}

}  // namespace sennit::perftest
