#include "sennit/runtime/watchdog.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <execinfo.h>
#include <memory>
#include <pthread.h>
#include <semaphore.h>
#include <span>
#include <utility>

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"
#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/worker_stats.hpp"

namespace sennit::runtime {
namespace {

constexpr int looks_per_threshold = 4;
constexpr int answer_seconds_max = 1;

// What a signal handler can reach. One question at a time:
// 1. The watchdog sets `state` to asked and sends the signal.
// 2. The handler swaps asked for answering, fills the rest and posts `answered`.
// 3. The watchdog swaps asked for idle when it waited in vain: a handler that comes later does
//    nothing. If the swap fails the answer is being written, and is waited for.
enum class Question : int { idle, asked, answering };
struct Answer {
  std::atomic<Question> state = Question::idle;
  sem_t answered{};
  ActivityId activity = 0;
  std::array<char, 64> name{};
  std::size_t name_bytes = 0;
  std::array<void*, 64> frames{};
  int frame_count = 0;
};
static_assert(std::atomic<Question>::is_always_lock_free);
Answer answer;
std::atomic<bool> is_in_use = false;

void answer_signal(int) {
  const int kept_errno = errno;
  Question expected = Question::asked;
  if (answer.state.compare_exchange_strong(expected, Question::answering)) {
    const Worker* const worker = Worker::current();
    const Activity* const activity = worker == nullptr ? nullptr : worker->activity();
    answer.activity = activity == nullptr ? 0 : activity->id();
    const std::string_view name = activity == nullptr ? "" : activity->name();
    answer.name_bytes = std::min(name.size(), answer.name.size());
    std::memcpy(answer.name.data(), name.data(), answer.name_bytes);
    // Allocates only in its first call, which was the constructor's.
    answer.frame_count = ::backtrace(answer.frames.data(), static_cast<int>(answer.frames.size()));
    ::sem_post(&answer.answered);
  }
  errno = kept_errno;
}

bool await_answer() {
  timespec limit{};
  ::timespec_get(&limit, TIME_UTC);
  limit.tv_sec += answer_seconds_max;
  for (;;) {
    if (::sem_timedwait(&answer.answered, &limit) == 0) return true;
    if (errno == EINTR) continue;
    Question expected = Question::asked;
    if (answer.state.compare_exchange_strong(expected, Question::idle)) return false;
    limit.tv_sec += answer_seconds_max;  // It is being written this moment.
  }
}

std::vector<std::string> names_of(std::span<void* const> frames) {
  std::vector<std::string> names;
  const std::unique_ptr<char*, decltype(&std::free)> symbols(
      ::backtrace_symbols(frames.data(), static_cast<int>(frames.size())), &std::free);
  if (symbols == nullptr) return names;
  for (std::size_t i = 0; i < frames.size(); ++i) names.emplace_back(symbols.get()[i]);
  return names;
}

}  // namespace

std::string to_string(const HeldWorker& held) {
  std::string text =
      fmt::format("worker {} has been held for {} ms by ", held.worker,
                  std::chrono::duration_cast<std::chrono::milliseconds>(held.held).count());
  if (held.activity == 0) {
    text += "a job or a completion";
  } else {
    text += fmt::format("activity {}", held.activity);
    if (!held.name.empty()) text += " '" + held.name + "'";
  }
  for (const std::string& frame : held.stack) text += "\n  " + frame;
  return text;
}

Duration TurnWatch::observe(std::uint64_t turn, TimePoint now) {
  if (turn == 0 || turn != turn_) {
    turn_ = turn;
    since_ = now;
    is_reported_ = false;
    return Duration::zero();
  }
  if (is_reported_ || now - since_ < threshold_) return Duration::zero();
  is_reported_ = true;
  return now - since_;
}

Watchdog::Watchdog(Runtime& runtime, WatchdogOptions options)
    : runtime_(runtime), options_(std::move(options)) {
  SENNIT_ASSERT(options_.threshold > Duration::zero());
  SENNIT_ASSERT(!is_in_use.exchange(true) && "one watchdog at a time");
  turns_.assign(runtime.worker_count(), TurnWatch(options_.threshold));
  ::sem_init(&answer.answered, 0, 0);
  void* warm_up = nullptr;
  ::backtrace(&warm_up, 1);
  struct sigaction action{};
  action.sa_handler = &answer_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGURG, &action, nullptr);
  if (runtime.simulated_kernel() == nullptr) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  // The handler stays: a signal that is still on its way must not meet the default of another.
  is_in_use = false;
}

void Watchdog::watch() {
  const RealClock clock;
  std::unique_lock lock(mutex_);
  const Duration pause =
      std::max<Duration>(options_.threshold / looks_per_threshold, std::chrono::milliseconds(1));
  while (!changed_.wait_for(lock, pause, [&] { return is_stopping_; })) {
    for (unsigned i = 0; i < turns_.size(); ++i) {
      const std::uint64_t turn = runtime_.worker(i).stats()->busy_turn.get();
      const Duration held = turns_[i].observe(turn, clock.now());
      if (held > Duration::zero()) ask(i, held);
    }
  }
}

void Watchdog::ask(unsigned worker, Duration held) {
  HeldWorker report;
  report.worker = worker;
  report.held = held;
  answer.state = Question::asked;
  if (::pthread_kill(runtime_.thread_handle(worker), SIGURG) == 0 && await_answer()) {
    report.activity = answer.activity;
    report.name.assign(answer.name.data(), answer.name_bytes);
    report.stack = names_of({answer.frames.data(), static_cast<std::size_t>(answer.frame_count)});
  }
  answer.state = Question::idle;
  if (options_.report) {
    options_.report(report);
  } else {
    log::warning("{}", to_string(report));
  }
}

}  // namespace sennit::runtime
