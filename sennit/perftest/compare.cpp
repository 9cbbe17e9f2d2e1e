#include "sennit/perftest/compare.hpp"

#include <algorithm>
#include <fmt/core.h>

namespace sennit::perftest {
namespace {

constexpr double confidence = 0.95;
constexpr const char* change_names[] = {"same", "SLOWER", "faster", "unclear", "added", "removed"};

const Recorded::Test* find(const Recorded& report, const std::string& name) {
  const auto found = std::ranges::find(report.tests, name, &Recorded::Test::name);
  return found == report.tests.end() ? nullptr : &*found;
}

Change change_of(const RatioEstimate& estimate, double threshold_percent) {
  if (!estimate.interval) return Change::unclear;
  const double slower = 1 + threshold_percent / 100;
  const double faster = 1 / slower;
  if (estimate.interval->low > slower) return Change::slower;
  if (estimate.interval->high < faster) return Change::faster;
  const bool within = estimate.interval->low >= faster && estimate.interval->high <= slower;
  return within ? Change::none : Change::unclear;
}

std::string percent(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

}  // namespace

bool Comparison::has_regression() const {
  return std::ranges::find(tests, Change::slower, &Test::change) != tests.end();
}

Comparison compare(const Recorded& before, const Recorded& after, double threshold_percent) {
  Comparison comparison{.same_machine_class = before.machine_class == after.machine_class,
                        .tests = {}};
  for (const Recorded::Test& test : after.tests) {
    Comparison::Test row{.name = test.name, .change = Change::added};
    row.after_ns = median(test.ns_per_call);
    if (const Recorded::Test* const old = find(before, test.name)) {
      row.before_ns = median(old->ns_per_call);
      row.ratio = ratio_of(old->ns_per_call, test.ns_per_call, confidence);
      row.change = change_of(row.ratio, threshold_percent);
    }
    comparison.tests.push_back(std::move(row));
  }
  for (const Recorded::Test& test : before.tests) {
    if (find(after, test.name) != nullptr) continue;
    comparison.tests.push_back(
        {.name = test.name, .change = Change::removed, .before_ns = median(test.ns_per_call)});
  }
  return comparison;
}

std::string describe(const Comparison& comparison) {
  std::size_t width = 4;
  for (const auto& test : comparison.tests) width = std::max(width, test.name.size());
  std::string text;
  if (!comparison.same_machine_class) {
    text += "warning: the reports are from different kinds of machine or build\n";
  }
  text += fmt::format("{:<{}} {:>13} {:>13} {:>9}  {:>21}\n", "test", width, "before ns",
                      "after ns", "time", "95 % confidence");
  int counts[std::size(change_names)] = {};
  for (const auto& test : comparison.tests) {
    const bool both = test.before_ns > 0 && test.after_ns > 0;
    const auto& interval = test.ratio.interval;
    text += fmt::format("{:<{}} {:>13} {:>13} {:>9}  {:>21}  {}\n", test.name, width,
                        test.before_ns > 0 ? fmt::format("{:.2f}", test.before_ns) : "-",
                        test.after_ns > 0 ? fmt::format("{:.2f}", test.after_ns) : "-",
                        both ? percent(test.ratio.ratio) : "-",
                        interval ? percent(interval->low) + " .. " + percent(interval->high) : "-",
                        change_names[static_cast<int>(test.change)]);
    ++counts[static_cast<int>(test.change)];
  }
  text += fmt::format("{} slower, {} faster, {} the same, {} unclear, {} added, {} removed\n",
                      counts[1], counts[2], counts[0], counts[3], counts[4], counts[5]);
  return text;
}

}  // namespace sennit::perftest
