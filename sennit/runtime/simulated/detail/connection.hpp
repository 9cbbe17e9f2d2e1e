#pragma once
// A connection of the simulated network: two ends, and what is under way between them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "sennit/base/time.hpp"

namespace sennit::runtime::simulated::detail {

struct Connection {
  static constexpr int nobody = -1;      // The end is closed.
  static constexpr int unaccepted = -2;  // It waits in a listener's queue.

  struct Segment {
    std::string bytes;
    bool is_end = false;
  };
  /// What this end sends.
  struct Way {
    std::deque<Segment> flying;      // In order of sending; each has one arrival to come.
    std::size_t unacknowledged = 0;  // Bytes that flew off and whose acknowledgement has not come.
    TimePoint last_arrival{};
    std::size_t held = 0;  // Arrivals that a partition holds back.
    std::uint64_t hold_count = 0;
    bool end_sent = false;
  };
  struct End {
    std::string machine;
    int descriptor = nobody;
    int listener = nobody;  // While unaccepted.
    Way way;
    std::string arrived;  // And not yet read, from `read` on.
    std::size_t read = 0;
    bool end_arrived = false;
    int error = 0;  // An errno that is to be told once; then the connection is broken.
    bool broken = false;
  };

  std::uint64_t id = 0;
  std::array<End, 2> ends;  // 0 connected, 1 accepted.
};

}  // namespace sennit::runtime::simulated::detail
