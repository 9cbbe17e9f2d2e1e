#include "sennit/net/name_cache.hpp"

#include <algorithm>

namespace sennit::net {

std::optional<Result<std::vector<Address>>> NameCache::find(std::string_view name, TimePoint now) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  const auto entry = found->second;
  if (now >= entry->expires) {
    by_name_.erase(found);
    entries_.erase(entry);
    return std::nullopt;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  if (entry->addresses.empty()) {
    return failure(Errc::not_found, "resolve " + entry->name + " (known not to exist)");
  }
  return entry->addresses;
}

void NameCache::put(std::string_view name, std::vector<Address> addresses, Duration ttl,
                    TimePoint now) {
  if (addresses.empty()) return put_absent(name, now);
  ttl = std::min(std::max(ttl, options_.ttl_min), options_.ttl_max);
  put_entry({std::string(name), std::move(addresses), now + ttl});
}

void NameCache::put_absent(std::string_view name, TimePoint now) {
  if (options_.negative_ttl <= Duration::zero()) return;
  put_entry({std::string(name), {}, now + options_.negative_ttl});
}

void NameCache::put_entry(Entry entry) {
  if (options_.names_max == 0) return;
  if (const auto found = by_name_.find(entry.name); found != by_name_.end()) {
    const auto old = found->second;
    by_name_.erase(found);
    entries_.erase(old);
  }
  while (by_name_.size() >= options_.names_max) {
    by_name_.erase(entries_.back().name);
    entries_.pop_back();
  }
  entries_.push_front(std::move(entry));
  by_name_.emplace(entries_.front().name, entries_.begin());
}

void NameCache::clear() {
  by_name_.clear();
  entries_.clear();
}

}  // namespace sennit::net
