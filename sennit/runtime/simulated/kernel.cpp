#include "sennit/runtime/simulated/kernel.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/simulated/files.hpp"
#include "sennit/runtime/simulated/network.hpp"

namespace sennit::runtime::simulated {

Kernel::Kernel(const Options& options)
    : options_(options),
      random_(options.seed),
      network_(std::make_unique<Network>(*this)),
      files_(std::make_unique<Files>(*this)) {}

Kernel::~Kernel() { SENNIT_ASSERT(actors_.empty(), actors_.size()); }

Duration Kernel::random_duration(Duration low, Duration high) {
  return Duration(random_.between(low.count(), std::max(low, high).count()));
}

bool Kernel::happens(double probability) { return probability > 0 && random_.unit() < probability; }

void Kernel::add(Actor& actor) { actors_.push_back(&actor); }

void Kernel::remove(Actor& actor) { std::erase(actors_, &actor); }

void Kernel::at(TimePoint instant, std::function<void()> event) {
  events_.push({.instant = instant, .sequence = sequence_++, .call = std::move(event)});
}

void Kernel::set_time(TimePoint instant) {
  if (instant <= now()) return;
  clock_.advance(instant - now());
  SENNIT_ASSERT(now() <= TimePoint() + options_.time_max && "the simulation goes on for ever",
                options_.seed);
}

bool Kernel::run_due_event() {
  if (events_.empty() || events_.top().instant > now()) return false;
  const std::function<void()> call = std::move(const_cast<Event&>(events_.top()).call);
  events_.pop();
  call();
  return true;
}

bool Kernel::run_some_actor() {
  runnable_.clear();
  for (Actor* const actor : actors_) {
    if (actor->has_work()) runnable_.push_back(actor);
  }
  if (runnable_.empty()) return false;
  Actor& drawn = *runnable_[runnable_.size() == 1 ? 0 : random_.below(runnable_.size())];
  if (actors_.size() > 1) {
    note("turn", static_cast<std::uint64_t>(std::ranges::find(actors_, &drawn) - actors_.begin()));
  }
  drawn.run_turn();
  set_time(now() + random_duration(options_.turn_cost_min, options_.turn_cost_max));
  return true;
}

TimePoint Kernel::next_instant() const {
  TimePoint next = events_.empty() ? TimePoint::max() : events_.top().instant;
  for (const Actor* const actor : actors_) next = std::min(next, actor->next_expiry());
  return next;
}

bool Kernel::step() {
  ++step_count_;
  if (run_due_event() || run_some_actor()) return true;
  const TimePoint next = next_instant();
  if (next == TimePoint::max()) return false;
  set_time(next);
  return true;
}

void Kernel::run_until(const std::function<bool()>& is_true) {
  while (!is_true()) {
    const bool something_happens = step();
    SENNIT_ASSERT(something_happens && "the simulation is stuck: nothing is ready, nothing is due",
                  options_.seed, now().time_since_epoch().count());
  }
}

void Kernel::run_for(Duration time) {
  const TimePoint end = now() + time;
  while (now() < end) {
    if (run_due_event() || run_some_actor()) {
      ++step_count_;
    } else {
      set_time(std::min(next_instant(), end));
    }
  }
}

// FNV-1a, of the words rather than their text: cheap enough to be always on.
void Kernel::note(std::string_view what, std::uint64_t first, std::uint64_t second) {
  constexpr std::uint64_t prime = 0x100000001b3;
  const auto mix = [&](std::uint64_t word) { trace_hash_ = (trace_hash_ ^ word) * prime; };
  for (const char letter : what) mix(static_cast<unsigned char>(letter));
  mix(static_cast<std::uint64_t>(now().time_since_epoch().count()));
  mix(first);
  mix(second);
  if (options_.trace_lines_max == 0) return;
  if (trace_.size() >= options_.trace_lines_max) trace_.erase(trace_.begin());
  trace_.push_back(
      fmt::format("{:>14} {} {} {}", now().time_since_epoch().count(), what, first, second));
}

}  // namespace sennit::runtime::simulated
