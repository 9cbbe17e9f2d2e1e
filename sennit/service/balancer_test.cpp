#include "sennit/service/balancer.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace sennit::service {
namespace {

constexpr Candidate balancer_busy(std::size_t in_flight) {
  return {.in_flight = in_flight, .is_available = true};
}
constexpr Candidate balancer_out = {.in_flight = 0, .is_available = false};

std::vector<std::string> balancer_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("10.0.0." + std::to_string(i) + ":80");
  return names;
}

TEST(Balancer, HasNoAnswerForAnEmptyList) {
  EXPECT_EQ(RoundRobin().pick({}), std::nullopt);
  EXPECT_EQ(LeastInFlight().pick({}), std::nullopt);
  EXPECT_EQ(ConsistentHash({}).pick(7, {}), std::nullopt);
}

TEST(RoundRobin, GoesThroughTheListAndSkipsWhatIsOut) {
  RoundRobin policy(1);
  const Candidate candidates[] = {balancer_busy(9), balancer_out, balancer_busy(0),
                                  balancer_busy(3)};
  std::vector<std::size_t> picked;
  for (int i = 0; i < 6; ++i) picked.push_back(policy.pick(candidates).value());
  EXPECT_EQ(picked, (std::vector<std::size_t>{2, 3, 0, 2, 3, 0}));
}

TEST(RoundRobin, UsesEverythingWhenNothingIsAvailable) {
  RoundRobin policy(SIZE_MAX);
  const Candidate candidates[] = {balancer_out, balancer_out};
  std::map<std::size_t, int> picked;
  for (int i = 0; i < 10; ++i) ++picked[policy.pick(candidates).value()];
  EXPECT_EQ(picked[0], 5);
  EXPECT_EQ(picked[1], 5);
}

TEST(LeastInFlight, PicksTheLeastBusyAndTakesTurnsAmongEquals) {
  LeastInFlight policy;
  const Candidate one_is_least[] = {balancer_busy(2), balancer_busy(1), balancer_busy(3)};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(policy.pick(one_is_least), 1U);
  const Candidate idle_is_out[] = {balancer_busy(2), balancer_out, balancer_busy(3)};
  EXPECT_EQ(policy.pick(idle_is_out), 0U);
  const Candidate equal[] = {balancer_busy(1), balancer_busy(1), balancer_busy(1)};
  std::map<std::size_t, int> picked;
  for (int i = 0; i < 9; ++i) ++picked[policy.pick(equal).value()];
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(picked[i], 3) << i;
}

TEST(ConsistentHash, SendsAKeyToTheSameAddressAndSpreadsKeys) {
  const auto names = balancer_names(10);
  const ConsistentHash policy(names);
  const std::vector<Candidate> idle(10);
  std::map<std::size_t, int> picked;
  for (int key = 0; key < 10'000; ++key) {
    const std::uint64_t hash = ConsistentHash::hash("key" + std::to_string(key));
    const std::size_t address = policy.pick(hash, idle).value();
    EXPECT_EQ(policy.pick(hash, idle), address);
    ++picked[address];
  }
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_GT(picked[i], 500) << i;
    EXPECT_LT(picked[i], 1700) << i;
  }
}

TEST(ConsistentHash, MovesOnlyTheKeysOfTheAddressThatLeft) {
  const auto names = balancer_names(10);
  const ConsistentHash before(names);
  const ConsistentHash after(std::span<const std::string>(names).first(9));
  const std::vector<Candidate> ten(10), nine(9);
  for (int key = 0; key < 1000; ++key) {
    const std::uint64_t hash = ConsistentHash::hash(std::to_string(key));
    const std::size_t was = before.pick(hash, ten).value();
    if (was != 9) {
      EXPECT_EQ(after.pick(hash, nine), was) << key;
    }
  }
}

TEST(ConsistentHash, BoundsTheLoadOfAHotKey) {
  const auto names = balancer_names(4);
  const ConsistentHash policy(names);
  std::vector<Candidate> candidates(4);
  const std::uint64_t hot = ConsistentHash::hash("everybody wants this one");
  for (int i = 0; i < 400; ++i) ++candidates[policy.pick(hot, candidates).value()].in_flight;
  for (const Candidate& candidate : candidates) EXPECT_LE(candidate.in_flight, 126U);
}

TEST(ConsistentHash, SkipsWhatIsOutAndStandsOddOptions) {
  const auto names = balancer_names(3);
  const ConsistentHash policy(names, {.points_per_address = 0, .load_factor = NAN});
  const Candidate candidates[] = {balancer_out, balancer_busy(100), balancer_out};
  for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(policy.pick(key << 57, candidates), 1U);
  const Candidate none[] = {balancer_out, balancer_out, balancer_out};
  EXPECT_TRUE(policy.pick(5, none).has_value());
}

}  // namespace
}  // namespace sennit::service
