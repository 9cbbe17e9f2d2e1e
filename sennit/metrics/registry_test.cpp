#include "sennit/metrics/registry.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sennit::metrics {
namespace {

TEST(Registry, GivesTheSameFamilyForTheSameName) {
  Registry registry({.slots = 2});
  auto& first = registry.counter("requests_total", "Requests.", {"route"});
  EXPECT_EQ(&registry.counter("requests_total", "Requests.", {"route"}), &first);
  auto& level = registry.gauge("open", "Open now.");
  EXPECT_EQ(&registry.gauge("open", "Open now."), &level);
  auto& taken = registry.histogram("taken_seconds", "Time.");
  EXPECT_EQ(&registry.histogram("taken_seconds", "Time."), &taken);
}

TEST(Registry, GivesEverySlotACell) {
  Registry registry({.slots = 3});
  Counter& counter = registry.counter("requests_total", "Requests.").with();
  counter.cell(2).add();
  EXPECT_EQ(counter.value(), 1U);
}

TEST(Registry, ListsItsFamiliesByName) {
  Registry registry({});
  registry.gauge("b", "Second.");
  registry.counter("a_total", "First.");
  registry.gauge_from("c", "Third.", [] { return 1.0; });
  std::string seen;
  registry.for_each([&](const std::string& name, const std::string& help,
                        const Registry::Metrics&) { seen += name + " " + help + " "; });
  EXPECT_EQ(seen, "a_total First. b Second. c Third. ");
}

TEST(Registry, BoundsTheSeriesOfEveryFamily) {
  Registry registry({.series_max = 2});
  auto& family = registry.counter("requests_total", "Requests.", {"path"});
  for (int i = 0; i < 10; ++i) family.with(std::to_string(i));
  EXPECT_EQ(family.overflow_count(), 8U);
}

TEST(RegistryDeathTest, RefusesNamesThatWouldNotParseOrMean) {
  Registry registry({});
  EXPECT_DEATH(registry.gauge("9lives", ""), "is_metric_name");
  EXPECT_DEATH(registry.gauge("with-dash", ""), "is_metric_name");
  EXPECT_DEATH(registry.gauge("", ""), "is_metric_name");
  EXPECT_DEATH(registry.counter("requests", ""), "ends_as_counter");
  EXPECT_DEATH(registry.gauge("open_total", ""), "ends_as_counter");
  EXPECT_DEATH(registry.gauge("open", "", {"le"}), "is_label_name");
  EXPECT_DEATH(registry.gauge("open", "", {"__name"}), "is_label_name");
  EXPECT_DEATH(registry.gauge("open", "", {"a", "a"}), "adjacent_find");
}

TEST(RegistryDeathTest, RefusesANameOfAnotherKindOrOtherLabels) {
  Registry registry({});
  registry.gauge("open", "");
  EXPECT_DEATH(registry.histogram("open", ""), "metrics != nullptr");
  EXPECT_DEATH(registry.gauge("open", "", {"route"}), "label_names");
}

}  // namespace
}  // namespace sennit::metrics
