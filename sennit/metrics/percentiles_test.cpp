#include "sennit/metrics/percentiles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <numbers>
#include <string>
#include <vector>

#include "sennit/base/random.hpp"

namespace sennit::metrics {
namespace {

TEST(GroupSize, IsTheLeastWhoseHarmonicNumberReaches) {
  EXPECT_EQ(group_size_for(0.5), 1U);
  EXPECT_EQ(group_size_for(0.9), 6U);
  EXPECT_EQ(group_size_for(0.99), 56U);
  EXPECT_EQ(group_size_for(0.999), 561U);
  EXPECT_EQ(group_size_for(0.9999), 5615U);
  EXPECT_EQ(group_size_for(0.001), 1U);
}

TEST(MeanOfMaxima, HasNoAnswerBeforeAGroupIsComplete) {
  MeanOfMaxima estimator(0.99);
  for (int i = 0; i < 55; ++i) estimator.record(i);
  EXPECT_FALSE(estimator.value().has_value());
  estimator.record(7);
  EXPECT_EQ(estimator.value(), 54);
  EXPECT_EQ(estimator.completed_groups(), 1U);
}

TEST(MeanOfMaxima, AveragesTheMaximaOfWholeGroups) {
  MeanOfMaxima estimator(0.9);  // Groups of 6.
  for (const int value : {1, 2, 3, 4, 5, 10, /**/ -3, -2, -1, -4, -5, -6, /**/ 1000}) {
    estimator.record(value);
  }
  EXPECT_EQ(estimator.completed_groups(), 2U);
  EXPECT_DOUBLE_EQ(*estimator.value(), 4.5);
}

// Ten machines of 100 samples each have ten complete groups of 56, and ten maxima are divided by
// ten.
TEST(MeanOfMaxima, MergesCompletedGroupsOfManyMachines) {
  MeanOfMaxima total(0.99);
  double sum = 0;
  for (int machine = 1; machine <= 10; ++machine) {
    MeanOfMaxima estimator(0.99);
    for (int i = 0; i < 100; ++i) estimator.record(i < 56 ? machine : 1'000'000);
    total.merge(estimator);
    sum += machine;
  }
  EXPECT_EQ(total.completed_groups(), 10U);
  EXPECT_DOUBLE_EQ(*total.value(), sum / 10);
}

TEST(MeanOfMaxima, KeepsItsOpenGroupAcrossAMerge) {
  MeanOfMaxima left(0.9), right(0.9);
  for (int i = 0; i < 5; ++i) left.record(100);
  for (int i = 0; i < 6; ++i) right.record(20);
  left.merge(right);
  EXPECT_DOUBLE_EQ(*left.value(), 20);
  left.record(1);
  EXPECT_DOUBLE_EQ(*left.value(), 60);
}

TEST(QuantileOfMaxima, HasNoAnswerBeforeAGroupIsComplete) {
  QuantileOfMaxima estimator(0.9);
  for (int i = 0; i < 5; ++i) estimator.record(i);
  EXPECT_FALSE(estimator.value().has_value());
  estimator.record(3);
  EXPECT_EQ(estimator.value(), 4);
}

TEST(QuantileOfMaxima, MergesAsIfTheGroupsWereItsOwn) {
  QuantileOfMaxima whole(0.9), left(0.9), right(0.9);
  Random random(3);
  for (int i = 0; i < 6'000; ++i) {
    const auto value = static_cast<std::int64_t>(random.below(1'000'000));
    whole.record(value);
    (i < 3'000 ? left : right).record(value);
  }
  left.merge(right);
  EXPECT_EQ(left.completed_groups(), 1000U);
  EXPECT_EQ(left.value(), whole.value());
}

struct Distribution {
  const char* name;
  std::function<double(Random&)> sample;
  double mean_error_least, mean_error_most;  // Of MeanOfMaxima, in per cent.
};

double normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.unit()));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

// In microseconds; the shapes matter, not the unit.
std::vector<Distribution> distributions() {
  return {
      {"exponential", [](Random& random) { return -1e3 * std::log(1 - random.unit()); }, -0.2, 0.4},
      {"normal", [](Random& random) { return 1e3 + 1e2 * normal(random); }, -0.35, -0.2},
      {"uniform", [](Random& random) { return 1e3 * random.unit(); }, -0.8, -0.7},
      {"bimodal",
       [](Random& random) {
         const bool slow = random.unit() < 0.05;
         return (slow ? 1e4 : 1e3) + 1e2 * normal(random);
       },
       -5.4, -4.8},
      {"lognormal", [](Random& random) { return 1e3 * std::exp(normal(random)); }, 8, 9.8},
      {"Pareto", [](Random& random) { return 1e3 * std::pow(1 - random.unit(), -1 / 1.5); }, 66,
       125},
  };
}

// The table in the header.
TEST(Percentiles, ErrAsDocumentedOverAMillionSamples) {
  for (const Distribution& distribution : distributions()) {
    SCOPED_TRACE(distribution.name);
    MeanOfMaxima mean(0.99);
    QuantileOfMaxima quantile(0.99);
    Random random(2026);
    std::vector<std::int64_t> samples(1'000'000);
    for (std::int64_t& sample : samples) {
      sample = static_cast<std::int64_t>(1e3 * distribution.sample(random));
      mean.record(sample);
      quantile.record(sample);
    }
    const auto exact_at = samples.begin() + 990'000 - 1;
    std::ranges::nth_element(samples, exact_at);
    const auto exact = static_cast<double>(*exact_at);
    const double mean_error = 100 * (*mean.value() / exact - 1);
    const double quantile_error = 100 * (static_cast<double>(*quantile.value()) / exact - 1);
    RecordProperty(std::string(distribution.name) + "_mean_error", std::to_string(mean_error));
    EXPECT_GE(mean_error, distribution.mean_error_least);
    EXPECT_LE(mean_error, distribution.mean_error_most);
    EXPECT_LE(std::abs(quantile_error), 0.5);
  }
}

}  // namespace
}  // namespace sennit::metrics
