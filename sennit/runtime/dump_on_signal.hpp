#pragma once
// DumpOnSignal: prints what every activity does when the process gets a signal, and goes on.
//
//   const DumpOnSignal dump(runtime);        // kill -QUIT pid, or Ctrl-\ at the terminal
//
// The handler does nothing but write to a descriptor; a thread of our own does the rest, so it
// works while workers are stuck. What handled the signal before is put back at the end. One at a
// time in a process (asserted), as it has only one disposition for each signal.

#include <csignal>
#include <functional>
#include <memory>
#include <string>

namespace sennit::runtime {

class Runtime;

class DumpOnSignal {
 public:
  using Sink = std::function<void(const std::string& text)>;
  /// The runtime must outlive it. Without a sink it writes to standard error.
  explicit DumpOnSignal(Runtime& runtime, int signal = SIGQUIT, Sink sink = {});
  ~DumpOnSignal();
  DumpOnSignal(const DumpOnSignal&) = delete;
  DumpOnSignal& operator=(const DumpOnSignal&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sennit::runtime
