#pragma once
// Hosts: names and addresses as /etc/hosts lists them (hosts(5)).
//
// A pure function of the file's text. Lines that say nothing sensible are skipped, as everybody
// skips them; a file of any size costs bounded memory.
//
// Thread safety: none needed; constant once parsed.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/net/address.hpp"

namespace sennit::net {

class Hosts {
 public:
  struct Limits {
    std::size_t names_max = 100'000;
    std::size_t addresses_per_name_max = 16;
  };
  Hosts() = default;
  [[nodiscard]] static Hosts parse(std::string_view text) { return parse(text, Limits()); }
  [[nodiscard]] static Hosts parse(std::string_view text, const Limits& limits);

  /// In the order of the file, with port 0; empty if the name is not there. Names are compared
  /// without case.
  [[nodiscard]] const std::vector<Address>& find(std::string_view name) const;
  [[nodiscard]] std::size_t name_count() const { return addresses_.size(); }

 private:
  std::map<std::string, std::vector<Address>, std::less<>> addresses_;  // Names in lower case.
};

/// ASCII only.
[[nodiscard]] std::string lower_case(std::string_view name);

}  // namespace sennit::net
