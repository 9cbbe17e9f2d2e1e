#include "sennit/runtime/testing/simulation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

#include "sennit/base/assert.hpp"
#include "sennit/base/log.hpp"

namespace sennit::runtime::testing {
namespace {

simulated::Kernel::Options kernel_options(const SimulationOptions& options) {
  simulated::Kernel::Options wanted;
  wanted.seed = options.seed;
  wanted.descriptors_max = options.descriptors_max;
  wanted.trace_lines_max = options.trace_lines_max;
  return wanted;
}

// Written by whoever holds a SeedOnAbort, read by the signal handler: no allocation there.
std::array<char, 64> replay_text{};
std::size_t replay_bytes = 0;
struct sigaction previous_action{};

void say_seed(int signal) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, replay_text.data(), replay_bytes);
  ::sigaction(signal, &previous_action, nullptr);
  std::raise(signal);
}

}  // namespace

Simulation::Simulation(const SimulationOptions& options)
    : options_(options), kernel_(kernel_options(options)), start_(kernel_.now()) {
  add_machine("127.0.0.1", options.workers);
}

Simulation::~Simulation() {
  for (auto& machine : machines_) machine->stop();
}

io::BackendOptions Simulation::backend_options(std::string_view machine) {
  io::BackendOptions wanted;
  wanted.simulated_kernel = &kernel_;
  wanted.simulated_machine = machine;
  return wanted;
}

Runtime& Simulation::add_machine(std::string_view address, unsigned workers) {
  RuntimeOptions wanted;
  wanted.workers = workers;
  wanted.backend = io::BackendKind::simulated;
  wanted.backend_options = backend_options(address);
  wanted.stacks = options_.stacks;
  auto started = Runtime::start(wanted);
  SENNIT_ASSERT(started.has_value(), started.error().to_string());
  machines_.push_back(*std::move(started));
  return *machines_.back();
}

std::uint64_t seed_from_environment() {
  const char* const text = std::getenv("SENNIT_SEED");
  std::uint64_t seed = 0;
  if (text == nullptr) return 0;
  const char* const end = text + std::strlen(text);
  const auto [last, error] = std::from_chars(text, end, seed);
  if (error != std::errc() || last != end) {
    log::warning("SENNIT_SEED is not a number: '{}'", text);
    return 0;
  }
  return seed;
}

SeedOnAbort::SeedOnAbort(std::uint64_t seed) {
  SENNIT_ASSERT(replay_bytes == 0 && "one SeedOnAbort at a time");
  const auto written = fmt::format_to_n(replay_text.data(), replay_text.size(),
                                        "SENNIT_SEED={} replays this\n", seed);
  replay_bytes = std::min(written.size, replay_text.size());
  struct sigaction action{};
  action.sa_handler = &say_seed;
  ::sigaction(SIGABRT, &action, &previous_action);
}

SeedOnAbort::~SeedOnAbort() {
  ::sigaction(SIGABRT, &previous_action, nullptr);
  replay_bytes = 0;
}

}  // namespace sennit::runtime::testing
