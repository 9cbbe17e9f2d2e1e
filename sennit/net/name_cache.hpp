#pragma once
// NameCache: what is known of names, for as long as their servers allow.
//
// Holds addresses, and that a name does not exist; forgets the one that was asked for the longest
// ago when it is full. Time comes in as an argument. Thread safety: none.

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/base/time.hpp"
#include "sennit/net/address.hpp"

namespace sennit::net {

class NameCache {
 public:
  struct Options {
    std::size_t names_max = 1024;
    /// What servers say is kept within these bounds, so that neither a zero makes every call ask
    /// nor a century pins a name.
    Duration ttl_min = std::chrono::seconds(1);
    Duration ttl_max = std::chrono::minutes(5);
    Duration negative_ttl = std::chrono::seconds(5);  // Zero: not kept.
  };
  explicit NameCache(const Options& options) : options_(options) {}

  /// Addresses, an error of code not_found, or nothing if it is not known (any more).
  [[nodiscard]] std::optional<Result<std::vector<Address>>> find(std::string_view name,
                                                                 TimePoint now);
  void put(std::string_view name, std::vector<Address> addresses, Duration ttl, TimePoint now);
  /// The name does not exist.
  void put_absent(std::string_view name, TimePoint now);
  void clear();
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

 private:
  struct Entry {
    std::string name;
    std::vector<Address> addresses;  // Empty: it does not exist.
    TimePoint expires;
  };
  void put_entry(Entry entry);

  const Options options_;
  std::list<Entry> entries_;  // The last asked for first.
  std::map<std::string_view, std::list<Entry>::iterator> by_name_;
};

}  // namespace sennit::net
