#include "tools/sennit/load_progress.hpp"

#include <cmath>
#include <fmt/core.h>
#include <unistd.h>

namespace sennit::tools {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

LoadProgress::LoadProgress() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

Duration LoadProgress::interval() const { return std::chrono::seconds(is_terminal_ ? 1 : 5); }

void LoadProgress::show(const load::Progress& progress) {
  const double span = seconds(progress.elapsed - last_.elapsed);
  const double answered = static_cast<double>(progress.requests - last_.requests);
  last_ = progress;
  fmt::print(stderr, "{}  {:.0f} s left, {:.0f} requests/s, {} errors{}", is_terminal_ ? "\r" : "",
             std::ceil(seconds(progress.left)), span > 0 ? answered / span : 0,
             progress.errors.total(), is_terminal_ ? "\x1b[K" : "\n");
  std::fflush(stderr);
}

void LoadProgress::clear() const {
  if (!is_terminal_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

}  // namespace sennit::tools
