#pragma once
// Which of several addresses the next call goes to. Policies only: they are told how much each
// address has in flight and whether it may be used, and answer an index.
//
//   RoundRobin      one after the other
//   LeastInFlight   where fewest calls wait; among equals one after the other
//   ConsistentHash  the same key to the same address, as long as that has no more than its share
//
// All three skip what is not available; when nothing is, they choose as if everything was, since a
// call that may succeed is better than none. An empty list has no answer.
//
// Thread safety: none; each worker has its own.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sennit::service {

/// One address, as a policy sees it.
struct Candidate {
  std::size_t in_flight = 0;
  bool is_available = true;
};

class RoundRobin {
 public:
  /// `first`: where to begin, so that many clients do not begin with the same address.
  explicit RoundRobin(std::size_t first = 0) : next_(first) {}
  [[nodiscard]] std::optional<std::size_t> pick(std::span<const Candidate> candidates);

 private:
  std::size_t next_;
};

class LeastInFlight {
 public:
  explicit LeastInFlight(std::size_t first = 0) : next_(first) {}
  [[nodiscard]] std::optional<std::size_t> pick(std::span<const Candidate> candidates);

 private:
  std::size_t next_;
};

/// A ring of hashes with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2018): a key goes to
/// the first address at or after its place that has less than `load_factor` times the mean in
/// flight. When an address comes or goes, only the keys at its places move.
class ConsistentHash {
 public:
  struct Options {
    std::size_t points_per_address = 100;  // More spread keys more evenly.
    double load_factor = 1.25;             // Less than 1, and what is no number, counts as 1.
  };
  /// `names` tell the addresses apart, such as "10.0.0.1:80"; their order is that of candidates.
  explicit ConsistentHash(std::span<const std::string> names) : ConsistentHash(names, Options()) {}
  ConsistentHash(std::span<const std::string> names, const Options& options);

  /// Requires as many candidates as there were names.
  [[nodiscard]] std::optional<std::size_t> pick(std::uint64_t key_hash,
                                                std::span<const Candidate> candidates) const;

  /// FNV-1a with a finisher: the same on every machine, so that many clients agree. Not for keys
  /// that attackers choose to collide, beyond what the load bound takes up.
  [[nodiscard]] static std::uint64_t hash(std::string_view key);

 private:
  struct Point {
    std::uint64_t hash;
    std::size_t address;
  };
  std::size_t address_count_;
  double load_factor_;
  std::vector<Point> points_;  // By hash.
};

}  // namespace sennit::service
