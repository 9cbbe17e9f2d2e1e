#include "sennit/perftest/compare.hpp"

#include <algorithm>
#include <fmt/core.h>

namespace sennit::perftest {
namespace {

constexpr double confidence = 0.95;
constexpr const char* change_names[] = {"same",    "SLOWER", "faster", "unclear",
                                        "measure", "added",  "removed"};

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

bool are_beside_the_same(const Recorded::Test& before, const Recorded::Test& after) {
  return before.beside && after.beside && before.beside->name == after.beside->name;
}

// Whether it is what others in both reports were measured by.
bool is_measure(const Recorded& before, const Recorded& after, const std::string& name) {
  const auto measured_by_it = [&](const Recorded& report) {
    return std::ranges::any_of(report.tests, [&](const Recorded::Test& test) {
      return test.beside && test.beside->name == name;
    });
  };
  return measured_by_it(before) && measured_by_it(after);
}

Comparison::Test compare_test(const Recorded::Test& before, const Recorded::Test& after,
                              double threshold_percent) {
  Comparison::Test row{.name = after.name, .change = Change::unclear};
  row.before_ns = median(before.ns_per_call);
  row.after_ns = median(after.ns_per_call);
  if (are_beside_the_same(before, after)) {
    row.before_beside = median(before.beside->ratios);
    row.after_beside = median(after.beside->ratios);
    row.ratio = ratio_of(before.beside->ratios, after.beside->ratios, confidence);
  } else {
    row.ratio = ratio_of(before.ns_per_call, after.ns_per_call, confidence);
  }
  row.change = change_of(row.ratio, threshold_percent);
  return row;
}

std::string shown(double ns, double beside) {
  if (beside > 0) return fmt::format("x {:.3f}", beside);
  return ns > 0 ? fmt::format("{:.2f}", ns) : "-";
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
    const Recorded::Test* const old = find(before, test.name);
    if (old == nullptr) {
      comparison.tests.push_back(
          {.name = test.name, .change = Change::added, .after_ns = median(test.ns_per_call)});
      continue;
    }
    Comparison::Test& row =
        comparison.tests.emplace_back(compare_test(*old, test, threshold_percent));
    if (is_measure(before, after, test.name)) row.change = Change::measure;
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
    text +=
        fmt::format("{:<{}} {:>13} {:>13} {:>9}  {:>21}  {}\n", test.name, width,
                    shown(test.before_ns, test.before_beside),
                    shown(test.after_ns, test.after_beside), both ? percent(test.ratio.ratio) : "-",
                    interval ? percent(interval->low) + " .. " + percent(interval->high) : "-",
                    change_names[static_cast<int>(test.change)]);
    ++counts[static_cast<int>(test.change)];
  }
  text += fmt::format("{} slower, {} faster, {} the same, {} unclear, {} added, {} removed\n",
                      counts[1], counts[2], counts[0], counts[3], counts[5], counts[6]);
  return text;
}

}  // namespace sennit::perftest
