#include "sennit/load/rate_search.hpp"

#include <algorithm>
#include <cmath>

#include "sennit/base/assert.hpp"

namespace sennit::load {

RateSearch::RateSearch(double first, double precision, int tries_max)
    : first_(std::clamp(first, least, most)), precision_(precision), tries_left_(tries_max) {
  SENNIT_ASSERT(first > 0 && precision > 0, first, precision);
}

std::optional<double> RateSearch::next() const {
  if (tries_left_ == 0) return std::nullopt;
  if (low_ == 0 && high_ == 0) return first_;
  if (high_ == 0) return low_ < most ? std::optional(std::min(low_ * 2, most)) : std::nullopt;
  if (low_ == 0) return high_ > least ? std::optional(std::max(high_ / 2, least)) : std::nullopt;
  if (high_ - low_ <= low_ * precision_) return std::nullopt;
  return std::round((low_ + high_) / 2 * 100) / 100;
}

void RateSearch::tell(bool holds) {
  const std::optional<double> tried = next();
  SENNIT_ASSERT(tried.has_value());
  (holds ? low_ : high_) = *tried;
  --tries_left_;
}

}  // namespace sennit::load
