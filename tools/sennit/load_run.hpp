#pragma once
// One run of `sennit load`: shown while it goes on, ended early by a signal.

#include <csignal>

#include "sennit/base/result.hpp"
#include "sennit/load/generator.hpp"

namespace sennit::tools {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;  // Errors, nothing answered, a condition held, or no report.
inline constexpr int exit_usage = 2;
inline constexpr int exit_void = 3;  // The generator itself was late or saturated.

/// SIGINT and SIGTERM are taken by asking, which needs no handler; a second one ends the program.
class Signals {
 public:
  /// Before any thread is started, so that none of them is interrupted.
  Signals();
  /// True if one came within the time, or before.
  bool wait_for(Duration time);
  [[nodiscard]] bool have_come() const { return have_come_; }

 private:
  sigset_t signals_{};
  bool have_come_ = false;
};

/// Runs to its end or a signal. `shows`: progress goes to standard error.
/// Errors: those of Generator::start().
[[nodiscard]] Result<load::Report> run_once(const load::Options& options, Signals& signals,
                                            bool shows);

/// Prints "sennit load: could not ..." and gives `status` back.
int complain(const Error& error, int status);
/// The status for an error of Generator::start().
[[nodiscard]] int status_of(const Error& error);

}  // namespace sennit::tools
