#pragma once
// Backoff: how long to wait before the next try, growing and random.
//
// "Full jitter" (Brooker, "Exponential Backoff And Jitter", 2015): the n-th delay is uniform
// between zero and first * factor^n, at most `most`. Without the jitter clients that failed
// together would come back together.
//
// Thread safety: none. Chance comes in as an argument.

#include "sennit/base/random.hpp"
#include "sennit/base/time.hpp"

namespace sennit::service {

struct BackoffOptions {
  Duration first = std::chrono::milliseconds(25);  // Zero or less: never any delay.
  Duration most = std::chrono::seconds(1);
  double factor = 2;  // Less than 1 counts as 1; what is not a number as well.
};

class Backoff {
 public:
  explicit Backoff(const BackoffOptions& options = {});

  /// The delay before the next try; from 0 to ceiling(), which then grows. However often it is
  /// called, the result stays within [0, most].
  [[nodiscard]] Duration next(Random& random);
  /// What the next delay is at most.
  [[nodiscard]] Duration ceiling() const { return ceiling_; }
  /// After a success: begins anew.
  void reset();

 private:
  BackoffOptions options_;
  Duration ceiling_;
};

}  // namespace sennit::service
