#include "sennit/service/outlier.hpp"

#include <algorithm>
#include <utility>

#include "sennit/base/assert.hpp"

namespace sennit::service {

OutlierDetector::OutlierDetector(std::size_t address_count, const OutlierOptions& options)
    : addresses_(address_count), options_(options) {}

void OutlierDetector::succeeded(std::size_t index) {
  SENNIT_ASSERT(index < addresses_.size(), index, addresses_.size());
  Address& address = addresses_[index];
  address.failures_in_a_row = 0;
  if (std::exchange(address.is_on_trial, false) && address.ejections > 0) --address.ejections;
}

void OutlierDetector::failed(std::size_t index, TimePoint now) {
  SENNIT_ASSERT(index < addresses_.size(), index, addresses_.size());
  Address& address = addresses_[index];
  if (options_.failures_to_eject == 0 || is_ejected(index, now)) return;
  if (address.failures_in_a_row < options_.failures_to_eject) ++address.failures_in_a_row;
  if (address.failures_in_a_row < options_.failures_to_eject && !address.is_on_trial) return;
  const double share =
      static_cast<double>(ejected_count(now) + 1) / static_cast<double>(addresses_.size());
  if (!(share <= options_.ejected_share_max)) return;
  constexpr unsigned ejections_max = 1'000'000;
  address.ejections = std::min(address.ejections + 1, ejections_max);
  // Divided, not multiplied: the product may not fit.
  const bool fits = options_.base_ejection <= options_.most_ejection / address.ejections;
  const Duration stay = fits ? options_.base_ejection * address.ejections : options_.most_ejection;
  address.out_until = stay > TimePoint::max() - now ? TimePoint::max() : now + stay;
  address.is_on_trial = true;
  address.failures_in_a_row = 0;
}

bool OutlierDetector::is_ejected(std::size_t index, TimePoint now) const {
  SENNIT_ASSERT(index < addresses_.size(), index, addresses_.size());
  return now < addresses_[index].out_until;
}

std::size_t OutlierDetector::ejected_count(TimePoint now) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      addresses_, [now](const Address& address) { return now < address.out_until; }));
}

}  // namespace sennit::service
