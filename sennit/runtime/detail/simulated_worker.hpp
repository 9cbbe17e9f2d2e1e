#pragma once
// A worker as an actor of a simulated kernel: it has a turn when the kernel gives it one.

#include "sennit/runtime/io/detail/simulated.hpp"
#include "sennit/runtime/simulated/kernel.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime::detail {

class SimulatedWorker final : public simulated::Kernel::Actor {
 public:
  SimulatedWorker(Worker& worker, simulated::Kernel& kernel)
      : worker_(worker),
        backend_(static_cast<io::SimulatedBackend&>(worker.backend())),
        kernel_(kernel) {
    kernel_.add(*this);
  }
  ~SimulatedWorker() override { kernel_.remove(*this); }
  SimulatedWorker(const SimulatedWorker&) = delete;
  SimulatedWorker& operator=(const SimulatedWorker&) = delete;

  [[nodiscard]] bool has_work() const override { return backend_.has_work() || worker_.has_work(); }
  [[nodiscard]] TimePoint next_expiry() const override { return worker_.timers().next_expiry(); }
  void run_turn() override { worker_.run_turn(); }
  /// After stop(): the last turns, at once.
  void finish() {
    kernel_.remove(*this);
    worker_.run();
  }

 private:
  Worker& worker_;
  io::SimulatedBackend& backend_;
  simulated::Kernel& kernel_;
};

}  // namespace sennit::runtime::detail
