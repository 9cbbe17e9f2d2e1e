#pragma once
// A forked process for tests of what survives one: runs a function, can be killed, and is always
// reaped. Every wait notices the child's end and has a bound.
//
// Thread safety: fork only from a process that runs no other thread.

#include <functional>

namespace sennit::shm::testing {

class Child {
 public:
  /// `body` returns the exit status and never gets back into the test. The child ends by itself
  /// after two minutes.
  explicit Child(const std::function<int()>& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();  // Kills and reaps it.

  [[nodiscard]] int pid() const { return pid_; }
  void kill() const;
  void stop() const;
  void go_on() const;

  /// True once it has ended.
  [[nodiscard]] bool has_ended() { return reap(false); }
  /// Waits for its end: its exit status, or -SIGNAL if it was killed.
  int join();
  /// Waits until `condition`; false if the child ended or a minute passed first.
  [[nodiscard]] bool wait_until(const std::function<bool()>& condition);

 private:
  bool reap(bool wait);

  int pid_;
  int status_ = 0;
  bool is_reaped_ = false;
};

}  // namespace sennit::shm::testing
