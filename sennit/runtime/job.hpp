#pragma once
// Job: something a worker shall run next, linked into queues through itself.
//
// JobQueue is the worker's own first-in-first-out; Mailbox is how other threads hand it jobs.
// A job is in at most one of them, and is owned by whoever made it until it runs.

#include <atomic>
#include <utility>

#include "sennit/base/assert.hpp"

namespace sennit::runtime {

class Job {
 public:
  using Run = void (*)(Job&);
  explicit Job(Run run) : run_(run) {}
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Called once for each time it was queued, on the worker; the job may be destroyed by it.
  void run() { run_(*this); }
  [[nodiscard]] bool runs(Run run) const { return run_ == run; }

 private:
  friend class JobQueue;
  friend class Mailbox;
  Run run_;
  Job* next_ = nullptr;
};

/// First in, first out. Thread safety: none.
class JobQueue {
 public:
  JobQueue() = default;
  JobQueue(const JobQueue&) = delete;
  JobQueue& operator=(const JobQueue&) = delete;

  [[nodiscard]] bool empty() const { return first_ == nullptr; }
  void push(Job& job) {
    job.next_ = nullptr;
    *last_ = &job;
    last_ = &job.next_;
  }
  /// Takes all of `other`, which is empty then. Requires empty().
  void take(JobQueue& other) {
    SENNIT_ASSERT(empty());
    if (other.empty()) return;
    first_ = std::exchange(other.first_, nullptr);
    last_ = std::exchange(other.last_, &other.first_);
  }
  /// The one that pop() would yield, or null.
  [[nodiscard]] const Job* front() const { return first_; }
  /// So many behind that one, or null; `job` may be null.
  [[nodiscard]] static const Job* behind_by(const Job* job, int count) {
    for (; count > 0 && job != nullptr; --count) job = job->next_;
    return job;
  }
  /// Requires !empty().
  Job& pop() {
    SENNIT_ASSERT(!empty());
    Job& job = *first_;
    first_ = job.next_;
    if (first_ == nullptr) last_ = &first_;
    return job;
  }

 private:
  Job* first_ = nullptr;
  Job** last_ = &first_;
};

/// Any thread posts, one worker takes. Lock-free; jobs come out in the order each thread posted.
///
/// The word is a stack of jobs (Treiber 1986) that is only ever taken whole, so there is no ABA:
/// 1. post() links the job to the head it saw and swings the head to it. The release pairs with
///    the acquire of take_all(), so the worker sees what the poster wrote into the job.
/// 2. take_all() exchanges the head for null and reverses the chain.
/// 3. Sleeping: the worker calls prepare_to_sleep() and then checks again before it blocks; post()
///    returns true if the worker must be woken. Both are sequentially consistent: either the
///    worker sees the job, or the poster sees that it sleeps.
class Mailbox {
 public:
  /// True if the worker was about to sleep and has to be woken.
  bool post(Job& job) {
    Job* head = head_.load(std::memory_order_relaxed);  // Only a first guess; the CAS decides.
    do {
      job.next_ = head;
    } while (!head_.compare_exchange_weak(head, &job));
    return sleeping_.load() && sleeping_.exchange(false);
  }
  /// Moves every posted job to the end of `queue`.
  void take_all(JobQueue& queue) {
    if (head_.load(std::memory_order_relaxed) == nullptr) return;  // The exchange below decides.
    Job* newest_first = head_.exchange(nullptr);
    Job* oldest_first = nullptr;
    while (newest_first != nullptr) {
      Job* next = newest_first->next_;
      newest_first->next_ = oldest_first;
      oldest_first = newest_first;
      newest_first = next;
    }
    while (oldest_first != nullptr) {
      Job* next = oldest_first->next_;
      queue.push(*oldest_first);
      oldest_first = next;
    }
  }
  /// Declares that the worker will block; false if a job is already there and it must not.
  bool prepare_to_sleep() {
    sleeping_.store(true);
    if (head_.load() == nullptr) return true;
    sleeping_.store(false);
    return false;
  }
  /// Whether nothing is posted and not yet taken.
  [[nodiscard]] bool empty() const { return head_.load() == nullptr; }
  /// Nobody needs to be woken any more.
  void awake() {
    // Pairs with nothing: a poster that still sees true sends a wake-up too many.
    sleeping_.store(false, std::memory_order_relaxed);
  }

 private:
  std::atomic<Job*> head_ = nullptr;
  std::atomic<bool> sleeping_ = false;
};

}  // namespace sennit::runtime
