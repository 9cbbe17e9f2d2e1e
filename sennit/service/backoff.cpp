#include "sennit/service/backoff.hpp"

#include <algorithm>

namespace sennit::service {

Backoff::Backoff(const BackoffOptions& options) : options_(options), ceiling_(Duration::zero()) {
  options_.first = std::max(options_.first, Duration::zero());
  options_.most = std::max(options_.most, Duration::zero());
  if (!(options_.factor >= 1)) options_.factor = 1;  // Also for NaN.
  reset();
}

void Backoff::reset() { ceiling_ = std::min(options_.first, options_.most); }

Duration Backoff::next(Random& random) {
  const Duration delay(random.between(0, ceiling_.count()));
  // Compared as a number with a fraction, before it is an integer: 0 times infinity is not a
  // number, and a product beyond `most` may be beyond every integer.
  const double grown = static_cast<double>(ceiling_.count()) * options_.factor;
  const bool fits = grown < static_cast<double>(options_.most.count());
  if (ceiling_ > Duration::zero()) {
    ceiling_ = fits ? Duration(static_cast<Duration::rep>(grown)) : options_.most;
  }
  return delay;
}

}  // namespace sennit::service
