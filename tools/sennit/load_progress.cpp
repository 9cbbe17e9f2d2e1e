#include "tools/sennit/load_progress.hpp"

#include <cmath>
#include <fmt/core.h>
#include <string>
#include <unistd.h>

#include "sennit/load/units.hpp"

namespace sennit::tools {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

LoadProgress::LoadProgress() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

Duration LoadProgress::interval() const { return std::chrono::seconds(is_terminal_ ? 1 : 5); }

void LoadProgress::show(const load::Progress& progress) {
  const double span = seconds(progress.elapsed - last_.elapsed);
  const double answered = static_cast<double>(progress.requests - last_.requests);
  const metrics::Histogram recent = since_last(progress.latency_ns);
  const auto time_of = [&recent](double percent) {
    return load::format_microseconds(static_cast<double>(recent.percentile(percent)) / 1e3);
  };
  last_ = progress;
  std::string text = fmt::format("  {:.0f} s left, ", std::ceil(seconds(progress.left)));
  if (progress.is_warming_up) {
    text += "warming up";
  } else {
    text += fmt::format("{:.0f} requests/s", span > 0 ? answered / span : 0);
    if (progress.rate > 0) text += fmt::format(" of {:.0f}", progress.rate);
    text += fmt::format(", {} errors", progress.errors.total());
    if (recent.count() > 0) {
      text += fmt::format(", 50% {}, 99% {}, max {}", time_of(50), time_of(99), time_of(100));
    }
  }
  fmt::print(stderr, "{}{}{}", is_terminal_ ? "\r" : "", text, is_terminal_ ? "\x1b[K" : "\n");
  std::fflush(stderr);
}

metrics::Histogram LoadProgress::since_last(const metrics::Histogram& all) const {
  metrics::Histogram recent(load::Report::interval_options);
  for (std::size_t i = 0; i < all.layout().bucket_count(); ++i) {
    const std::uint64_t count = all.count_at(i) - last_.latency_ns.count_at(i);
    if (count > 0) recent.add_at(i, count);
  }
  return recent;
}

void LoadProgress::clear() const {
  if (!is_terminal_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace sennit::tools
