#pragma once
// Shedder: which share of the requests is turned away, so that those that are let in do not wait.
//
// Told from time to time how long what is ready has to wait until it runs. A queue that only
// smooths bursts empties now and then; one that does not, for a whole interval, stands (CoDel,
// Nichols and Jacobson 2012). While the least delay of each interval stays above the target the
// share grows, else it shrinks; requests are turned away evenly, without chance.
//
// Thread safety: none; one for each worker.

#include "sennit/base/time.hpp"

namespace sennit::http::detail {

class Shedder {
 public:
  struct Options {
    Duration target = std::chrono::milliseconds(20);  // Zero: never sheds.
    Duration interval = std::chrono::milliseconds(100);
  };
  explicit Shedder(const Options& options) : options_(options) {}

  /// A sample of the delay, at `now`.
  void observe(Duration delay, TimePoint now);
  /// Whether the request at hand is to be turned away.
  [[nodiscard]] bool sheds() {
    if (share_ == 0) [[likely]]
      return false;
    debt_ += share_;
    if (debt_ < 1) return false;
    debt_ -= 1;
    return true;
  }
  /// 0 to share_max.
  [[nodiscard]] double share() const { return share_; }
  static constexpr double share_max = 0.95;

 private:
  Options options_;
  TimePoint interval_ends_;
  Duration least_ = Duration::max();
  double share_ = 0;
  double debt_ = 0;
};

}  // namespace sennit::http::detail
