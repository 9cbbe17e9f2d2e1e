#include "sennit/metrics/cell.hpp"

#include <algorithm>

#include "sennit/base/assert.hpp"

namespace sennit::metrics {

HistogramCell::HistogramCell(HistogramOptions options)
    : layout_(options),
      counts_(std::make_unique<OneWriter<std::uint64_t>[]>(layout_.bucket_count())) {}

void HistogramCell::add_to(Histogram& total) const {
  SENNIT_ASSERT(total.options() == layout_.options(), total.options().highest,
                layout_.options().highest);
  for (std::size_t i = 0; i < layout_.bucket_count(); ++i) {
    const std::uint64_t count = counts_[i].get();
    total.counts_[i] += count;
    total.count_ += count;
  }
  total.sum_ += sum_.get();
  total.clamped_count_ += clamped_count_.get();
  total.least_ = std::min(total.least_, least_.get());
  total.greatest_ = std::max(total.greatest_, greatest_.get());
}

}  // namespace sennit::metrics
