#include "tools/sennit/load_run.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/core.h>

#include "tools/sennit/load_progress.hpp"

namespace sennit::tools {
namespace {

void watch(load::Generator& generator, Signals& signals, bool shows) {
  LoadProgress shown;
  Duration until_shown = shown.interval();
  while (!generator.wait_for(Duration::zero())) {
    const load::Progress before = generator.progress();
    const Duration shortest = std::chrono::milliseconds(1);
    if (signals.wait_for(std::max(std::min(until_shown, before.left), shortest))) {
      generator.stop();
      break;
    }
    const load::Progress progress = generator.progress();
    until_shown -= progress.elapsed - before.elapsed;
    if (!shows || until_shown > Duration::zero() || progress.left == Duration::zero()) continue;
    shown.show(progress);
    until_shown = shown.interval();
  }
  if (shows) shown.clear();
}

}  // namespace

Signals::Signals() {
  ::sigemptyset(&signals_);
  ::sigaddset(&signals_, SIGINT);
  ::sigaddset(&signals_, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

bool Signals::wait_for(Duration time) {
  if (have_come_) return true;
  timespec limit{};
  limit.tv_sec = static_cast<time_t>(time.count() / 1'000'000'000);
  limit.tv_nsec = static_cast<long>(time.count() % 1'000'000'000);
  if (::sigtimedwait(&signals_, nullptr, &limit) < 0) return false;
  ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  have_come_ = true;
  return true;
}

Result<load::Report> run_once(const load::Options& options, Signals& signals, bool shows) {
  SENNIT_TRY(auto generator, load::Generator::start(options));
  watch(*generator, signals, shows);
  return generator->finish();
}

int complain(const Error& error, int status) {
  fmt::print(stderr, "sennit load: could not {}\n", error.to_string());
  return status;
}

int status_of(const Error& error) {
  return error.code() == Errc::invalid_argument ? exit_usage : exit_failed;
}

}  // namespace sennit::tools
