#include "sennit/net/hosts.hpp"

#include <algorithm>

namespace sennit::net {
namespace {

constexpr std::string_view blanks = " \t\r\v\f";

/// Takes the next word off the front of `line`; empty at its end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(blanks));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

std::string lower_case(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return lower;
}

Hosts Hosts::parse(std::string_view text, const Limits& limits) {
  constexpr std::size_t name_bytes_max = 253, address_bytes_max = 64;
  Hosts hosts;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = line.substr(0, line.find('#'));
    const std::string_view numeric = take_word(line);
    if (numeric.empty() || numeric == "localhost" || numeric.size() > address_bytes_max) continue;
    const Result<Address> address = Address::from_host(numeric, 0);
    if (!address) continue;
    for (std::string_view name = take_word(line); !name.empty(); name = take_word(line)) {
      if (name.size() > name_bytes_max) continue;
      const std::string key = lower_case(name);
      auto found = hosts.addresses_.find(key);
      if (found == hosts.addresses_.end()) {
        if (hosts.addresses_.size() >= limits.names_max) continue;
        found = hosts.addresses_.emplace(key, std::vector<Address>()).first;
      }
      std::vector<Address>& known = found->second;
      if (known.size() < limits.addresses_per_name_max &&
          std::ranges::find(known, *address) == known.end()) {
        known.push_back(*address);
      }
    }
  }
  return hosts;
}

const std::vector<Address>& Hosts::find(std::string_view name) const {
  static const std::vector<Address> none;
  const auto found = addresses_.find(lower_case(name));
  return found == addresses_.end() ? none : found->second;
}

}  // namespace sennit::net
