#include "sennit/shm/testing/child.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sennit/base/log.hpp"

namespace sennit::shm::testing {

Child::Child(const std::function<int()>& body) : pid_(::fork()) {
  if (pid_ != 0) return;
  ::alarm(120);  // Whatever becomes of the parent, nobody is left behind.
  ::_exit(body());
}

Child::~Child() {
  kill();
  join();
}

void Child::kill() const {
  if (!is_reaped_) ::kill(pid_, SIGKILL);
}
void Child::stop() const {
  ::kill(pid_, SIGSTOP);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT);
}
void Child::go_on() const { ::kill(pid_, SIGCONT); }

int Child::join() {
  while (!reap(true)) {
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
}

bool Child::wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 60'000; ++i) {
    if (condition()) return true;
    if (has_ended()) return condition();
    ::poll(nullptr, 0, 1);
  }
  log::error("a child made no progress for a minute");
  return false;
}

bool Child::reap(bool wait) {
  if (!is_reaped_ && ::waitpid(pid_, &status_, wait ? 0 : WNOHANG) == pid_) is_reaped_ = true;
  return is_reaped_;
}

}  // namespace sennit::shm::testing
