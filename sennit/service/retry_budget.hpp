#pragma once
// RetryBudget: how many retries the calls of one client may make in all, so that a server in
// trouble is not given several times its load.
//
// A bucket of tokens. Each call puts in `ratio` of one, each retry takes one out, and some flow in
// with time, so that a client with few calls can retry at all. When it is empty a failure is
// reported instead of tried again. (Finagle's and linkerd's scheme.)
//
// Thread safety: none; each worker has its own. Time comes in as an argument.

#include "sennit/base/time.hpp"

namespace sennit::service {

struct RetryBudgetOptions {
  double ratio = 0.2;       // Retries for each call, in the long run.
  double per_second = 10;   // Besides, whatever the calls.
  double tokens_max = 100;  // Also what it begins with.
};

class RetryBudget {
 public:
  explicit RetryBudget(const RetryBudgetOptions& options = {});

  /// A call was begun (not a retry of one).
  void on_call();
  /// True if a retry may be made now, which is then counted.
  [[nodiscard]] bool take(TimePoint now);
  [[nodiscard]] double tokens() const { return tokens_; }

 private:
  RetryBudgetOptions options_;
  double tokens_;
  TimePoint last_ = TimePoint::min();
};

}  // namespace sennit::service
