#pragma once
// What a Segment object knows, for segment.cpp and lease.cpp.

#include <array>
#include <cstdint>
#include <utility>

#include "sennit/shm/detail/backing.hpp"
#include "sennit/shm/segment.hpp"

namespace sennit::shm {

struct Segment::State {
  explicit State(detail::Backing given) : backed(std::move(given)) {}

  detail::Backing backed;
  Info info;
  bool was_created = false;
  // The process that took the lease through this object; a forked child is not it.
  std::array<std::uint64_t, role_count> lease_holder{};
};

}  // namespace sennit::shm
