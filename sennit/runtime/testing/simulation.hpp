#pragma once
// Simulation: a whole service, its clients and the network between them, in one thread, in virtual
// time, from one seed.
//
//   Simulation sim({.seed = seed});
//   sim.network().set_link("10.0.0.1", "10.0.0.2", {.latency_min = 1ms, .loss = 0.01});
//   Runtime& server = sim.add_machine("10.0.0.1", 2);   // two workers
//   Runtime& client = sim.add_machine("10.0.0.2");
//   client.run([&] { ... });    // turns all workers of all machines until this has ended
//
// Runtimes behave as always, except that nothing runs unless run(), run_until() or run_for() is on
// the stack of the test. Workers have turns in an order drawn by the seed; sleeping costs no real
// time. The same seed gives the same run, and a run that fails says its seed: for_each_seed() in
// seeds.hpp replays it from the environment variable SENNIT_SEED. That holds as long as the code
// under test takes time, chance, sockets and files from its worker.
//
// Thread safety: none. Objects of the workers must be gone before the simulation is destroyed.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/runtime/runtime.hpp"
#include "sennit/runtime/simulated/files.hpp"
#include "sennit/runtime/simulated/kernel.hpp"
#include "sennit/runtime/simulated/network.hpp"

namespace sennit::runtime::testing {

struct SimulationOptions {
  std::uint64_t seed = 1;
  unsigned workers = 1;  // Of the first machine, 127.0.0.1.
  fiber::StackPool::Options stacks = {.usable_bytes = std::size_t{256} * 1024};
  std::size_t descriptors_max = 1 << 20;
  std::size_t trace_lines_max = 0;
};

class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options = {});
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// On the first machine, see Runtime::run.
  template <class F>
  auto run(F function, unsigned worker = 0) {
    return machines_.front()->run(std::move(function), worker);
  }
  /// The first machine's.
  [[nodiscard]] Runtime& runtime() { return *machines_.front(); }
  /// Another machine of the network; `address` is its IP address and its name.
  Runtime& add_machine(std::string_view address, unsigned workers = 1);
  /// For whatever starts a runtime of its own, such as a server: its part on that machine.
  /// With BackendKind::simulated.
  [[nodiscard]] io::BackendOptions backend_options(std::string_view machine = "127.0.0.1");

  [[nodiscard]] simulated::Kernel& kernel() { return kernel_; }
  [[nodiscard]] simulated::Network& network() { return kernel_.network(); }
  [[nodiscard]] simulated::Files& files() { return kernel_.files(); }
  [[nodiscard]] std::uint64_t seed() const { return kernel_.seed(); }
  /// Virtual time since the simulation began.
  [[nodiscard]] Duration elapsed() const { return kernel_.now() - start_; }
  /// Lets virtual time pass, and everything happen that is due meanwhile.
  void run_for(Duration time) { kernel_.run_for(time); }
  /// Lets things happen until it is true; stops the program if nothing is left to happen before.
  void run_until(const std::function<bool()>& is_true) { kernel_.run_until(is_true); }
  /// Of everything that happened so far: two runs with the same seed agree in it.
  [[nodiscard]] std::uint64_t trace_hash() const { return kernel_.trace_hash(); }

 private:
  const SimulationOptions options_;
  simulated::Kernel kernel_;
  const TimePoint start_;
  std::vector<std::unique_ptr<Runtime>> machines_;
};

/// SENNIT_SEED of the environment; 0 if it is not set.
[[nodiscard]] std::uint64_t seed_from_environment();

/// While it lives, a failed assertion or a crash in this process says which seed replays it.
class SeedOnAbort {
 public:
  explicit SeedOnAbort(std::uint64_t seed);
  ~SeedOnAbort();
  SeedOnAbort(const SeedOnAbort&) = delete;
  SeedOnAbort& operator=(const SeedOnAbort&) = delete;
};

}  // namespace sennit::runtime::testing

namespace sennit {
using runtime::testing::Simulation;
}
