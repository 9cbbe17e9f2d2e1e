// What a fiber costs: switching to it and back, among few and many, starting and making one.

#include <memory>
#include <utility>
#include <vector>

#include "sennit/fiber/fiber.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit::fiber {
namespace {

/// A fiber that gives control back for ever, until it is told to end.
class Yielder {
 public:
  explicit Yielder(Stack stack) : fiber_(std::move(stack)) { fiber_.start(&Yielder::loop, this); }
  ~Yielder() {
    ends_ = true;
    fiber_.resume();
  }
  Yielder(const Yielder&) = delete;
  Yielder& operator=(const Yielder&) = delete;
  void round_trip() { fiber_.resume(); }

 private:
  static void loop(void* argument) noexcept {
    auto& self = *static_cast<Yielder*>(argument);
    while (!self.ends_) self.fiber_.suspend();
  }
  Fiber fiber_;
  bool ends_ = false;
};

class FiberPerf : public testing::Test {
 protected:
  Stack stack() { return std::move(*pool_.acquire()); }
  void make(std::size_t count) {
    while (yielders_.size() < count) yielders_.push_back(std::make_unique<Yielder>(stack()));
  }
  void switch_to_next() {
    yielders_[next_]->round_trip();
    next_ = next_ + 1 == yielders_.size() ? 0 : next_ + 1;
  }
  static void nothing(void*) noexcept {}

  StackPool pool_{{}};
  std::vector<std::unique_ptr<Yielder>> yielders_;
  std::size_t next_ = 0;
};

class OneFiberPerf : public FiberPerf {
 protected:
  OneFiberPerf() { make(1); }
};
class ThousandFibersPerf : public FiberPerf {
 protected:
  ThousandFibersPerf() { make(1000); }
};

PERF_TEST_F(OneFiberPerf, SwitchThereAndBack) { switch_to_next(); }
PERF_TEST_F(ThousandFibersPerf, SwitchThereAndBack) { switch_to_next(); }

class FinishedFiberPerf : public FiberPerf {
 protected:
  Fiber fiber_{stack()};
};
PERF_TEST_F(FinishedFiberPerf, StartAgainAndFinish) { fiber_.start(&nothing, nullptr); }

PERF_TEST_F(FiberPerf, MakeStartAndFinish) {
  Fiber fiber(stack());
  fiber.start(&nothing, nullptr);
}

}  // namespace
}  // namespace sennit::fiber
