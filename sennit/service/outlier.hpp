#pragma once
// OutlierDetector: which addresses of a list are given no calls for a while, because they fail.
//
//   1. `failures_to_eject` failures in a row eject an address; a success begins the count anew.
//   2. It stays out for base_ejection times the number of its ejections so far, at most
//      most_ejection. Then it is given calls again, and one more failure ejects it once more.
//   3. A success after that forgives one earlier ejection.
//   4. At most `ejected_share_max` of the list are out at once: when everything fails the trouble
//      is not with one address.
//
// Thread safety: none; each worker has its own. Time comes in as an argument.

#include <cstddef>
#include <vector>

#include "sennit/base/time.hpp"

namespace sennit::service {

struct OutlierOptions {
  unsigned failures_to_eject = 5;  // 0: nothing is ever ejected.
  Duration base_ejection = std::chrono::seconds(5);
  Duration most_ejection = std::chrono::minutes(5);
  double ejected_share_max = 0.5;
};

class OutlierDetector {
 public:
  explicit OutlierDetector(std::size_t address_count, const OutlierOptions& options = {});

  /// How a call to address `index` ended. Only what the address can be blamed for is a failure:
  /// refused, reset, timed out, a 5xx. Requires index < address_count.
  void succeeded(std::size_t index);
  void failed(std::size_t index, TimePoint now);

  [[nodiscard]] bool is_ejected(std::size_t index, TimePoint now) const;
  [[nodiscard]] std::size_t ejected_count(TimePoint now) const;

 private:
  struct Address {
    unsigned failures_in_a_row = 0;
    unsigned ejections = 0;
    bool is_on_trial = false;  // It was out and has not succeeded since.
    TimePoint out_until = TimePoint::min();
  };
  std::vector<Address> addresses_;
  OutlierOptions options_;
};

}  // namespace sennit::service
