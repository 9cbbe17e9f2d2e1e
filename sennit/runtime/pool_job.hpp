#pragma once
// PoolJob: something for a thread that is no worker, linked into a pool's queue through itself.
//
// Owned by whoever submits it, until it has run or cancel() of its pool has returned true. It may
// be destroyed by what it runs.

#include "sennit/base/intrusive_list.hpp"

namespace sennit::runtime {

namespace detail {
struct ComputeQueue;
}

class PoolJob : public ListHook<PoolJob> {
 public:
  using Run = void (*)(PoolJob&) noexcept;
  explicit PoolJob(Run run) : run_(run) {}

 private:
  friend class BlockingPool;
  friend class ComputePool;
  void run() { run_(*this); }

  Run run_;
  detail::ComputeQueue* queue_ = nullptr;  // Of a ComputePool, while it waits there.
};

}  // namespace sennit::runtime
