#pragma once
// Rounds: several ways to do one thing, measured in turns and told as ratios.
//
//   TEST(Lookup, TableBesideTree) {
//     perftest::Rounds rounds;
//     rounds.add("tree", [&] { return tree.find(next_key()); });    // The measure.
//     rounds.add("table", [&] { return table.find(next_key()); });
//     rounds.run();
//   }
//
// prints
//
//         tree: 45.6 ns
//        table: 12.3 ns, 0.27 times as long (0.266 to 0.275)
//
// Each round gives everyone a turn of some milliseconds, beginning with another one each time; so
// whatever slows the machine down slows all of them, and the ratio of two turns of one round holds
// where times do not. The ratio is the median over the rounds of the time beside the first's, with
// its interval of 95 % confidence. The first is what the others are measured by: a peer, a floor.
//
// The report has a test for each ("Lookup.TableBesideTree/table"), with times and ratios; comparing
// two reports (compare.hpp) goes by the ratios, which other load on the machine, or a machine of
// another speed, leaves nearly alone.
//
// What is added is a function of one call, or one of `std::uint64_t times` that makes so many
// calls, for what needs a surrounding: `[&](std::uint64_t times) { runtime->run([&] { ... }); }`.
// The time of -time is each one's, in 50 rounds; what takes longer has fewer, but at least six.
//
// Thread safety: none. What was added is kept until the Rounds end, and called by run() alone.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sennit/perftest/faster.hpp"
#include "sennit/perftest/statistics.hpp"

namespace sennit::perftest {

inline constexpr int rounds_wanted = 50;
inline constexpr int rounds_least = 6;  // An interval of 95 % takes so many.

class Rounds {
 public:
  struct Contestant {
    std::string name;
    double items_per_call;
    std::uint64_t calls;              // In all rounds.
    std::vector<double> ns_per_call;  // Of each round.
    std::vector<double> ratios;       // Time an item beside the first's, of each round.

    [[nodiscard]] double ns_per_item() const { return median(ns_per_call) / items_per_call; }
    [[nodiscard]] double ratio() const { return median(ratios); }
    [[nodiscard]] std::optional<Interval> interval() const { return median_interval(ratios, 0.95); }
  };

  /// Requires a name of its own, and items > 0. If one call stands for several items, ratios are of
  /// items.
  template <class Function>
  void add(std::string name, Function function, double items_per_call = 1) {
    if constexpr (std::is_invocable_v<Function&, std::uint64_t>) {
      add_repeat(std::move(name), std::move(function), items_per_call);
    } else {
      add_repeat(
          std::move(name),
          [function = std::move(function)](std::uint64_t times) mutable {
            detail::repeat(function)(times);
          },
          items_per_call);
    }
  }

  /// Measures, prints and keeps the results for the report. Called within a test, once. Requires
  /// that something was added. The result is this object's.
  std::span<const Contestant> run();
  /// Measures alone: for each about `time_each_ns`.
  std::span<const Contestant> measure(std::int64_t time_each_ns, const Clock& clock);

  /// After a run. Requires that there is one of this name.
  [[nodiscard]] const Contestant& operator[](std::string_view name) const;

 private:
  void add_repeat(std::string name, Repeat repeat, double items_per_call);
  void play(int round, std::span<const std::uint64_t> times, const Clock& clock);

  std::vector<Contestant> contestants_;
  std::vector<Repeat> repeats_;
};

/// The lines that run() prints.
[[nodiscard]] std::string describe(std::span<const Rounds::Contestant> contestants);

}  // namespace sennit::perftest
