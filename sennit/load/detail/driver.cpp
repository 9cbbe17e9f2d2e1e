#include "sennit/load/detail/driver.hpp"

#include <algorithm>
#include <utility>

#include "sennit/base/assert.hpp"

namespace sennit::load::detail {
namespace {

constexpr int first_error_status = 400;

}  // namespace

Driver::SampleTimer::SampleTimer(Driver& d)
    : Timer([](Timer& timer) { static_cast<SampleTimer&>(timer).driver.sample(); }), driver(d) {}

Driver::EndTimer::EndTimer(Driver& d)
    : Timer([](Timer& timer) { static_cast<EndTimer&>(timer).driver.stop(); }), driver(d) {}

Driver::Driver(runtime::Worker& worker, const Plan& plan, std::uint32_t connections,
               std::function<void()> ended)
    : worker_(worker),
      plan_(plan),
      ended_(std::move(ended)),
      sample_timer_(*this),
      end_timer_(*this),
      latency_ns_(Report::latency_options),
      rates_(Report::rate_options) {
  for (std::uint32_t i = 0; i < connections; ++i) connections_.emplace_back(*this);
}

Driver::~Driver() {
  SENNIT_ASSERT(started_count_ == 0 || ended_count_ == connections_.size(), ended_count_);
}

void Driver::start() {
  if (is_stopping_) return;
  started_at_ = sampled_at_ = now();
  timers().arm(sample_timer_, started_at_ + sample_interval);
  timers().arm(end_timer_, started_at_ + plan_.duration);
  start_connections();
}

void Driver::stop() {
  if (is_stopping_) return;
  is_stopping_ = true;
  ended_at_ = now();
  sample_timer_.disarm();
  end_timer_.disarm();
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

void Driver::count_response(Duration latency, int status) {
  requests_.add();
  latency_ns_.record(latency.count());
  if (status >= first_error_status) errors_[static_cast<std::size_t>(ErrorKind::status)].add();
}

void Driver::count_error(ErrorKind kind, int os_error, const char* reason) {
  errors_[static_cast<std::size_t>(kind)].add();
  if (!first_error_) first_error_ = FirstError{kind, os_error, reason};
}

void Driver::sample() {
  const TimePoint present = now();
  const double seconds = std::chrono::duration<double>(present - sampled_at_).count();
  const auto answered = static_cast<double>(requests() - sampled_requests_);
  rates_.record(static_cast<std::int64_t>(answered / seconds));
  sampled_at_ = present;
  sampled_requests_ = requests();
  timers().arm(sample_timer_, present + sample_interval);
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
  report.duration = std::max(report.duration, ended_at_ - started_at_);
  report.latency_ns.merge(latency_ns_);
  report.rates.merge(rates_);
  if (report.first_error.empty() && first_error_) report.first_error = describe(*first_error_);
}

}  // namespace sennit::load::detail
