#include "sennit/http/detail/shedder.hpp"

#include <algorithm>

namespace sennit::http::detail {

void Shedder::observe(Duration delay, TimePoint now) {
  if (options_.target <= Duration::zero()) return;
  least_ = std::min(least_, delay);
  if (now < interval_ends_) return;
  // Of what is let in a tenth more is turned away, or a fifth of what is turned away comes back:
  // it converges within a second either way, and shrinking to nothing ends.
  if (least_ > options_.target) {
    share_ = std::min(share_max, share_ + 0.1 * (1 - share_) + 0.02);
  } else {
    share_ = share_ < 0.02 ? 0 : share_ * 0.8;
  }
  least_ = Duration::max();
  interval_ends_ = now + options_.interval;
}

}  // namespace sennit::http::detail
