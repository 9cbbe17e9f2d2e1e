// The published comparison of coroutine libraries, for what can be built here: 1, 1,000 and 30,000
// of them, switched to in turn, made from a pool, and made for the first time. Prints a line of
// JSON for each; benchmarks/fiber_switch makes a table of them, with goroutines beside.

#include <algorithm>
#include <fmt/core.h>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <time.h>
#include <unistd.h>
#include <vector>

#include "sennit/fiber/detail/testing/switch_peers.hpp"

namespace sennit::fiber {
namespace {

struct Shape {
  std::size_t count, stack_bytes;
};
constexpr std::size_t kib = 1024;
constexpr int rounds = 7;

double resident_bytes() {
  std::ifstream statistics("/proc/self/statm");
  double total = 0, resident = 0;
  statistics >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// What the rounds of one measurement took, per item.
class Rounds {
 public:
  template <class F>
  void measure(double items, F function) {
    const double begin = cpu_ns();
    function();
    ns_.push_back((cpu_ns() - begin) / items);
  }
  [[nodiscard]] double last() const { return ns_.back(); }
  [[nodiscard]] int count() const { return static_cast<int>(ns_.size()); }
  [[nodiscard]] std::string to_json(const char* name) {
    std::ranges::sort(ns_);
    return fmt::format(R"("{}":{{"median":{:.2f},"least":{:.2f}}})", name, ns_[ns_.size() / 2],
                       ns_.front());
  }

 private:
  static double cpu_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  }
  std::vector<double> ns_;
};

template <class Peer>
void measure(Shape shape) {
  const auto count = static_cast<double>(shape.count);
  Rounds switches, creations, first_creations;
  double resident = 0;
  for (int round = 0; round < 3; ++round) {
    Peer peer(shape.count, shape.stack_bytes);
    const double before = resident_bytes();
    first_creations.measure(count, [&] { peer.start(); });
    resident = std::max(resident, (resident_bytes() - before) / count);
    peer.end();
  }
  Peer peer(shape.count, shape.stack_bytes);
  peer.start();
  Rounds once;  // As many passes a round as take some 10 ms, so that slow peers end too.
  once.measure(1, [&] { peer.switch_all(); });
  const auto passes = static_cast<std::size_t>(std::clamp(1e7 / once.last(), 1.0, 1e6));
  for (int round = 0; round < rounds; ++round) {
    switches.measure(count * static_cast<double>(passes), [&] {
      for (std::size_t pass = 0; pass < passes; ++pass) peer.switch_all();
    });
  }
  peer.end();
  for (double spent = 0; creations.count() < 2 * rounds && spent < 3e8;
       spent += creations.last() * count) {
    creations.measure(count, [&] { peer.start(); });
    peer.end();
  }
  fmt::print(R"({{"peer":"{}","count":{},"stack_bytes":{},{},{},{},"resident_bytes":{:.0f}}})"
             "\n",
             Peer::name, shape.count, shape.stack_bytes, switches.to_json("switch"),
             creations.to_json("create"), first_creations.to_json("first"), resident);
}

TEST(SwitchTable, OfAllThatCanBeBuiltHere) {
  for (const Shape shape : {Shape{1, 64 * kib}, Shape{1000, 2048 * kib}, Shape{30'000, 64 * kib}}) {
    measure<peers::BareSwitch>(shape);
    measure<peers::Ours>(shape);
    measure<peers::Ucontext>(shape);
#ifdef SENNIT_HAS_BOOST_FIBER
    measure<peers::BoostContext>(shape);
    measure<peers::BoostFiber>(shape);
#endif
  }
}

}  // namespace
}  // namespace sennit::fiber
