#pragma once
// Places for tests: names that no other process uses, removed at the end.

#include <vector>

#include "sennit/shm/segment.hpp"

namespace sennit::shm::testing {

class Places {
 public:
  Places() = default;
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places();

  Place posix();
  Place file();
  Place sysv();
  /// One of each kind that others can open by name.
  std::vector<Place> named() { return {posix(), file(), sysv()}; }

 private:
  Place keep(Place place);
  std::vector<Place> made_;
};

}  // namespace sennit::shm::testing
