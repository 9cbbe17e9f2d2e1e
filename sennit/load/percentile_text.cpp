#include "sennit/load/percentile_text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>

namespace sennit::load {
namespace {

constexpr int ticks_per_halving = 5;
constexpr double ns_per_ms = 1e6;

/// The next level to print, as HdrHistogram's iterator takes its steps (its PercentileIterator).
double level_after(double percent) {
  const double halvings = std::floor(std::log2(100.0 / (100.0 - percent))) + 1;
  return percent + 100.0 / (ticks_per_halving * std::exp2(halvings));
}

}  // namespace

std::string percentile_distribution(const metrics::Histogram& histogram) {
  std::string text = fmt::format("{:>12} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile",
                                 "TotalCount", "1/(1-Percentile)");
  const auto total = static_cast<double>(histogram.count());
  double level = 0;
  std::uint64_t up_to = 0;
  for (const auto& bucket : histogram.buckets()) {
    up_to += bucket.count;
    const double reached = 100.0 * static_cast<double>(up_to) / total;
    const double value = static_cast<double>(std::min(bucket.highest, histogram.max())) / ns_per_ms;
    while (level <= reached && up_to < histogram.count()) {
      text += fmt::format("{:12.3f} {:2.12f} {:10} {:14.2f}\n", value, level / 100, up_to,
                          1 / (1 - level / 100));
      level = level_after(level);
    }
    if (up_to == histogram.count()) {
      text += fmt::format("{:12.3f} {:2.12f} {:10} {:>14}\n", value, 1.0, up_to, "inf");
    }
  }
  text += fmt::format("#[Mean    = {:12.3f}, StdDeviation   = {:12.3f}]\n",
                      histogram.mean() / ns_per_ms, histogram.stddev() / ns_per_ms);
  text += fmt::format("#[Max     = {:12.3f}, Total count    = {:12}]\n",
                      static_cast<double>(histogram.max()) / ns_per_ms, histogram.count());
  text += fmt::format("#[Buckets = {:12}, SubBuckets     = {:12}]\n",
                      histogram.layout().bucket_count() / 1024, 2048);
  return text;
}

}  // namespace sennit::load
