#include "sennit/service/balancer.hpp"

#include <algorithm>
#include <cmath>

#include "sennit/base/assert.hpp"

namespace sennit::service {
namespace {

bool any_available(std::span<const Candidate> candidates) {
  return std::ranges::any_of(candidates, &Candidate::is_available);
}

}  // namespace

std::optional<std::size_t> RoundRobin::pick(std::span<const Candidate> candidates) {
  const std::size_t count = candidates.size();
  if (count == 0) return std::nullopt;
  const bool all_count = !any_available(candidates);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = (next_ % count + i) % count;
    if (!all_count && !candidates[index].is_available) continue;
    next_ = index + 1;
    return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> LeastInFlight::pick(std::span<const Candidate> candidates) {
  const std::size_t count = candidates.size();
  if (count == 0) return std::nullopt;
  const bool all_count = !any_available(candidates);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t index = (next_ % count + i) % count;
    if (!all_count && !candidates[index].is_available) continue;
    if (!best || candidates[index].in_flight < candidates[*best].in_flight) best = index;
  }
  if (best) next_ = *best + 1;
  return best;
}

std::uint64_t ConsistentHash::hash(std::string_view key) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : key) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  // FNV's upper bits hardly move with the last bytes; SplitMix64's finisher spreads them.
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

ConsistentHash::ConsistentHash(std::span<const std::string> names, const Options& options)
    : address_count_(names.size()),
      load_factor_(options.load_factor >= 1 ? options.load_factor : 1) {
  const std::size_t points = std::max<std::size_t>(options.points_per_address, 1);
  points_.reserve(names.size() * points);
  for (std::size_t address = 0; address < names.size(); ++address) {
    for (std::size_t point = 0; point < points; ++point) {
      points_.push_back({hash(names[address] + '#' + std::to_string(point)), address});
    }
  }
  std::ranges::sort(points_, [](const Point& a, const Point& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.address < b.address;
  });
}

std::optional<std::size_t> ConsistentHash::pick(std::uint64_t key_hash,
                                                std::span<const Candidate> candidates) const {
  SENNIT_ASSERT(candidates.size() == address_count_, candidates.size(), address_count_);
  if (points_.empty()) return std::nullopt;
  const bool all_count = !any_available(candidates);
  std::size_t usable = 0, in_flight = 1;  // With the one that is to be placed.
  for (const Candidate& candidate : candidates) {
    if (!all_count && !candidate.is_available) continue;
    ++usable;
    in_flight += candidate.in_flight;
  }
  const double mean = static_cast<double>(in_flight) / static_cast<double>(usable);
  const double most = std::ceil(mean * load_factor_);
  const auto from = std::ranges::lower_bound(points_, key_hash, {}, &Point::hash);
  const auto begin = static_cast<std::size_t>(from - points_.begin());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const std::size_t address = points_[(begin + i) % points_.size()].address;
    const Candidate& candidate = candidates[address];
    if (!all_count && !candidate.is_available) continue;
    if (static_cast<double>(candidate.in_flight) < most) return address;
  }
  return std::nullopt;  // Not reached: somebody has no more than the mean.
}

}  // namespace sennit::service
