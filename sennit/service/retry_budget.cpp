#include "sennit/service/retry_budget.hpp"

#include <algorithm>

namespace sennit::service {
namespace {

// Also for NaN.
double at_least_zero(double value) { return value > 0 ? value : 0; }

}  // namespace

RetryBudget::RetryBudget(const RetryBudgetOptions& options)
    : options_{.ratio = at_least_zero(options.ratio),
               .per_second = at_least_zero(options.per_second),
               .tokens_max = at_least_zero(options.tokens_max)},
      tokens_(options_.tokens_max) {}

void RetryBudget::on_call() { tokens_ = std::min(tokens_ + options_.ratio, options_.tokens_max); }

bool RetryBudget::take(TimePoint now) {
  if (last_ != TimePoint::min() && now > last_) {
    const double seconds = std::chrono::duration<double>(now - last_).count();
    tokens_ = std::min(tokens_ + seconds * options_.per_second, options_.tokens_max);
  }
  last_ = std::max(last_, now);
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

}  // namespace sennit::service
