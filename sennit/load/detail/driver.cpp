#include "sennit/load/detail/driver.hpp"

#include <algorithm>
#include <sys/resource.h>
#include <utility>

#include "sennit/base/assert.hpp"

namespace sennit::load::detail {
namespace {

constexpr int first_error_status = 400;

Duration to_duration(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

/// CPU time of this thread, of the user and the system.
Duration cpu_time() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return to_duration(usage.ru_utime) + to_duration(usage.ru_stime);
}

}  // namespace

Driver::Tick::Tick(Driver& d, Call c)
    : Timer([](Timer& timer) {
        auto& self = static_cast<Tick&>(timer);
        (self.driver.*self.call)();
      }),
      driver(d),
      call(c) {}

Driver::Driver(runtime::Worker& worker, unsigned index, const Plan& plan, std::uint32_t connections,
               std::function<void()> ended)
    : worker_(worker),
      plan_(plan),
      index_(index),
      ended_(std::move(ended)),
      random_(plan.seed * 0x9e3779b97f4a7c15 + index),
      sample_timer_(*this, &Driver::sample),
      measure_timer_(*this, &Driver::measure),
      end_timer_(*this, &Driver::stop),
      due_timer_(*this, &Driver::release),
      service_ns_(Report::latency_options),
      response_ns_(Report::latency_options),
      lag_ns_(Report::latency_options),
      rates_(Report::rate_options),
      live_ns_(Report::interval_options),
      interval_ns_(Report::interval_options) {
  for (std::uint32_t i = 0; i < connections; ++i) connections_.emplace_back(*this);
}

Driver::~Driver() {
  SENNIT_ASSERT(started_count_ == 0 || ended_count_ == connections_.size(), ended_count_);
}

void Driver::start() {
  if (is_stopping_) return;
  started_at_ = ended_at_ = now();
  timers().arm(end_timer_, started_at_ + plan_.duration);
  if (plan_.warm_up > Duration::zero()) {
    timers().arm(measure_timer_, started_at_ + plan_.warm_up);
  } else {
    measure();
  }
  if (plan_.schedule) {
    next_due_at_ = started_at_ + plan_.schedule->time_of(index_);
    timers().arm(due_timer_, next_due_at_);
  }
  start_connections();
}

/// The warm-up is over.
void Driver::measure() {
  is_measuring_ = true;
  measured_from_ = sampled_at_ = started_at_ + plan_.warm_up;
  cpu_before_ = cpu_time();
  timers().arm(sample_timer_, measured_from_ + sample_interval);
}

void Driver::stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  ended_at_ = now();
  if (is_measuring_) {
    cpu_used_ = cpu_time() - cpu_before_;
    end_interval();
  }
  for (Tick* const tick : {&sample_timer_, &measure_timer_, &end_timer_, &due_timer_}) {
    tick->disarm();
  }
  while (!free_.empty()) free_.pop_front();
  for (Connection& connection : connections_) connection.stop();
}

void Driver::start_connections() {
  if (is_starting_ || is_stopping_) return;
  is_starting_ = true;  // A connect that fails at once comes back to here.
  while (started_count_ < connections_.size() && connecting_count_ < connecting_max) {
    connections_[started_count_++].start();
  }
  is_starting_ = false;
}

void Driver::connecting_ends() {
  --connecting_count_;
  if (started_count_ < connections_.size()) start_connections();
}

void Driver::connection_ended() {
  if (++ended_count_ == connections_.size()) ended_();
}

bool Driver::take_due(TimePoint now, TimePoint& intended_at) {
  if (is_stopping_) return false;
  if (!plan_.schedule) {
    intended_at = now;
    return true;
  }
  if (now < next_due_at_) return false;
  intended_at = next_due_at_;
  if (!waits_for_connection_) count_lag(now, intended_at);
  go_to_next_due();
  return true;
}

void Driver::go_to_next_due() {
  ++due_count_;
  const std::uint64_t number = index_ + due_count_ * plan_.workers;
  next_due_at_ = started_at_ + plan_.schedule->time_of(number);
}

void Driver::count_lag(TimePoint now, TimePoint intended_at) {
  if (intended_at >= measured_from_) lag_ns_.record((now - intended_at).count());
}

// Only what finds a free connection here, at its time, tells how late we are ourselves: what has to
// wait for one waits for the server.
void Driver::release() {
  const TimePoint present = now();
  while (next_due_at_ <= present && !free_.empty()) free_.pop_front().send_one(present);
  waits_for_connection_ = next_due_at_ <= present;
  if (!waits_for_connection_) timers().arm(due_timer_, next_due_at_);
}

void Driver::offer(Connection& connection) {
  free_.push_back(connection);
  if (waits_for_connection_) release();
}

void Driver::render(const PlannedRequest& request, Buffer& out, bool is_last) {
  const std::uint64_t number = index_ + sequence_++ * plan_.workers;
  request.append_to(out, scratch_, is_last, number, random_);
}

void Driver::count_response(TimePoint intended_at, TimePoint sent_at, TimePoint now, int status) {
  if (!is_measuring_) return;
  requests_.add();
  if (status >= first_error_status) {
    errors_[static_cast<std::size_t>(ErrorKind::status)].add();
    ++interval_errors_;
  }
  if (intended_at < measured_from_) return;  // It was due in the warm-up.
  service_ns_.record((now - sent_at).count());
  const std::int64_t response_ns = (now - intended_at).count();
  if (plan_.schedule) response_ns_.record(response_ns);
  live_ns_.record(response_ns);
  interval_ns_.record(response_ns);
}

void Driver::count_error(ErrorKind kind, int os_error, const char* reason, TimePoint intended_at) {
  if (!first_error_) first_error_ = FirstError{kind, os_error, reason};
  if (!is_measuring_ || intended_at < measured_from_) return;
  errors_[static_cast<std::size_t>(kind)].add();
  ++interval_errors_;
}

void Driver::sample() {
  const TimePoint present = now();
  const double seconds = std::chrono::duration<double>(present - sampled_at_).count();
  const auto answered = static_cast<double>(requests() - sampled_requests_);
  if (seconds > 0) rates_.record(static_cast<std::int64_t>(answered / seconds));
  sampled_at_ = present;
  sampled_requests_ = requests();
  const Duration interval = sample_interval * samples_per_interval;
  const auto begun = static_cast<std::int64_t>(intervals_.size()) * interval;
  if (present - measured_from_ >= begun + interval) end_interval();
  timers().arm(sample_timer_, present + sample_interval);
}

/// Each second's response times, of which only the buckets in use are kept.
void Driver::end_interval() {
  Report::Interval interval;
  for (std::size_t i = 0; i < interval_ns_.layout().bucket_count(); ++i) {
    if (const std::uint64_t count = interval_ns_.count_at(i); count > 0) {
      interval.counts.emplace_back(static_cast<std::uint32_t>(i), count);
    }
  }
  interval.errors = std::exchange(interval_errors_, 0);
  interval_ns_.reset();
  intervals_.push_back(std::move(interval));
}

void Driver::add_errors_to(ErrorCounts& total) const {
  for (std::size_t i = 0; i < error_kind_count; ++i) {
    total.add(static_cast<ErrorKind>(i), errors_[i].value());
  }
}

std::string Driver::describe(const FirstError& error) const {
  const char* doing = "read a response from ";
  if (error.kind == ErrorKind::connect) doing = "connect to ";
  if (error.kind == ErrorKind::write) doing = "send a request to ";
  if (error.kind == ErrorKind::timeout) doing = "get an answer from ";
  const std::string sentence = doing + plan_.address.to_string();
  if (error.os_error != 0) return Error::from_os(error.os_error, sentence).to_string();
  return sentence + ": " + error.reason;
}

void Driver::add_to(Report& report) const {
  report.requests += requests();
  report.bytes_read += bytes_read();
  add_errors_to(report.errors);
  const Duration measured =
      is_measuring_ ? std::max(ended_at_ - measured_from_, Duration::zero()) : Duration::zero();
  report.duration = std::max(report.duration, measured);
  report.service_ns.merge(service_ns_);
  report.response_ns.merge(response_ns_);
  report.lag_ns.merge(lag_ns_);
  report.rates.merge(rates_);
  report.add_intervals(intervals_);
  if (measured > Duration::zero()) {
    const auto busy = static_cast<double>(cpu_used_.count());
    report.cpu_busy = std::max(report.cpu_busy, busy / static_cast<double>(measured.count()));
  }
  report.cpu_time += cpu_used_;
  if (plan_.schedule && next_due_at_ <= ended_at_ && is_measuring_) {
    // Those that are due and have not been sent: the numbers from ours up to the end.
    std::uint64_t low = due_count_, high = low + 1;
    const auto is_due = [&](std::uint64_t count) {
      return started_at_ + plan_.schedule->time_of(index_ + count * plan_.workers) <= ended_at_;
    };
    while (is_due(high)) high += high - due_count_ + 1;
    while (high - low > 1) (is_due((low + high) / 2) ? low : high) = (low + high) / 2;
    report.unsent += high - due_count_;
  }
  if (report.first_error.empty() && first_error_) report.first_error = describe(*first_error_);
}

}  // namespace sennit::load::detail
