#pragma once
// Pools: the threads of a runtime that are no workers.

#include "sennit/runtime/blocking_pool.hpp"
#include "sennit/runtime/compute_pool.hpp"

namespace sennit::runtime {

struct PoolOptions {
  BlockingPoolOptions blocking = {};
  ComputePoolOptions compute = {};
};

struct Pools {
  explicit Pools(const PoolOptions& options = {}, simulated::Kernel* kernel = nullptr)
      : blocking(options.blocking, kernel), compute(options.compute, kernel) {}
  BlockingPool blocking;
  ComputePool compute;
};

}  // namespace sennit::runtime
