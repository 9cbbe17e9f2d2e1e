#include "sennit/load/report.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <numeric>

#include "sennit/load/units.hpp"

namespace sennit::load {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

std::string_view to_string(ErrorKind kind) {
  constexpr std::string_view names[error_kind_count] = {"connect", "read", "write", "timeout",
                                                        "status"};
  return names[static_cast<std::size_t>(kind)];
}

std::uint64_t ErrorCounts::total() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Report::requests_per_second() const {
  return duration <= Duration::zero() ? 0 : static_cast<double>(requests) / seconds(duration);
}

double Report::bytes_per_second() const {
  return duration <= Duration::zero() ? 0 : static_cast<double>(bytes_read) / seconds(duration);
}

metrics::Histogram Report::Interval::histogram() const {
  metrics::Histogram made(interval_options);
  for (const auto& [index, count] : counts) made.add_at(index, count);
  return made;
}

void Report::add_intervals(const std::vector<Interval>& others) {
  if (intervals.size() < others.size()) intervals.resize(others.size());
  for (std::size_t i = 0; i < others.size(); ++i) {
    Interval& ours = intervals[i];
    ours.errors += others[i].errors;
    ours.counts.insert(ours.counts.end(), others[i].counts.begin(), others[i].counts.end());
    std::ranges::sort(ours.counts);
    std::vector<std::pair<std::uint32_t, std::uint64_t>> sums;
    for (const auto& [index, count] : ours.counts) {
      if (!sums.empty() && sums.back().first == index) {
        sums.back().second += count;
      } else {
        sums.emplace_back(index, count);
      }
    }
    ours.counts = std::move(sums);
  }
}

void Report::judge(Duration lag_max) {
  constexpr double busy_max = 0.95;
  void_reasons.clear();
  if (!is_open_loop()) return;
  const std::int64_t lag = lag_ns.percentile(99);
  if (lag > lag_max.count()) {
    void_reasons.push_back(fmt::format(
        "the generator was late: 1 % of the requests left {} or more after they were due although "
        "a "
        "connection was free (allowed: {}). Use more threads, a lower rate or a quieter machine.",
        format_microseconds(static_cast<double>(lag) / 1e3),
        format_microseconds(static_cast<double>(lag_max.count()) / 1e3)));
  }
  if (cpu_busy > busy_max) {
    void_reasons.push_back(fmt::format(
        "the generator was saturated: its busiest thread used its CPU for {:.0f} % of the time, so "
        "its own queue is in the figures. Use more threads or a lower rate.",
        cpu_busy * 100));
  }
}

void Report::merge(const Report& other) {
  connections += other.connections;
  workers += other.workers;
  rate += other.rate;
  duration = std::max(duration, other.duration);
  requests += other.requests;
  unsent += other.unsent;
  bytes_read += other.bytes_read;
  for (std::size_t i = 0; i < error_kind_count; ++i) {
    errors.add(static_cast<ErrorKind>(i), other.errors[static_cast<ErrorKind>(i)]);
  }
  if (first_error.empty()) first_error = other.first_error;
  service_ns.merge(other.service_ns);
  response_ns.merge(other.response_ns);
  lag_ns.merge(other.lag_ns);
  rates.merge(other.rates);
  cpu_busy = std::max(cpu_busy, other.cpu_busy);
  cpu_time += other.cpu_time;
  void_reasons.insert(void_reasons.end(), other.void_reasons.begin(), other.void_reasons.end());
  add_intervals(other.intervals);
  for (std::size_t i = 0; i < other.beside.size(); ++i) {
    if (i < beside.size()) {
      beside[i].merge(other.beside[i]);
    } else {
      beside.push_back(other.beside[i]);
    }
  }
}

}  // namespace sennit::load
