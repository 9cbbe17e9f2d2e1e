// What a fiber costs: switching to it and back, among few and many, starting and making one.
//
// What did not help, so that nobody tries it again:
// - one call to guard or to fill each stack: batches of 64 take 20 % less than batches of 16, and
//   batches of 256 no less than those of 64; filling costs 1,300 of some 1,600 ns, all of it in the
//   kernel, which clears a page (1,600 when it is left to a page fault); MADV_NOHUGEPAGE costs
//   nothing

#include <memory>
#include <utility>

#include "sennit/fiber/fiber.hpp"
#include "sennit/fiber/stack_pool.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit::fiber {
namespace {

/// Fibers side by side in memory, each of which gives control back for ever, until told to end.
class Yielders {
 public:
  explicit Yielders(std::size_t count, std::size_t usable_bytes = std::size_t{64} * 1024)
      : count_(count),
        pool_({.usable_bytes = usable_bytes}),
        fibers_(std::allocator<Fiber>().allocate(count)) {}
  ~Yielders() { std::allocator<Fiber>().deallocate(fibers_, count_); }
  Yielders(const Yielders&) = delete;
  Yielders& operator=(const Yielders&) = delete;

  /// Makes and starts all of them.
  void start() {
    ends_ = false;
    for (std::size_t i = 0; i < count_; ++i) {
      auto* const fiber = std::construct_at(fibers_ + i, *pool_.acquire());
      fiber->start(&Yielders::loop, fiber);
    }
  }
  void end() {
    ends_ = true;
    for (std::size_t i = 0; i < count_; ++i) {
      fibers_[i].resume();
      std::destroy_at(fibers_ + i);
    }
  }
  /// One round trip to each.
  void switch_to_all() {
    for (std::size_t i = 0; i < count_; ++i) {
      fibers_[i + ahead < count_ ? i + ahead : 0].prefetch();
      fibers_[i].resume();
    }
  }

 private:
  static constexpr std::size_t ahead = 6;
  static void loop(void* fiber) noexcept {
    while (!ends_) static_cast<Fiber*>(fiber)->suspend();
  }
  static inline bool ends_ = false;
  const std::size_t count_;
  StackPool pool_;
  Fiber* fibers_;
};

template <std::size_t count>
class SwitchPerf : public testing::Test {
 protected:
  SwitchPerf() { yielders_.start(); }
  ~SwitchPerf() override { yielders_.end(); }
  Yielders yielders_{count};
};
using SwitchAmongOnePerf = SwitchPerf<1>;
using SwitchAmongThousandPerf = SwitchPerf<1000>;
using SwitchAmongThirtyThousandPerf = SwitchPerf<30'000>;

PERF_TEST_F(SwitchAmongOnePerf, ThereAndBack) { yielders_.switch_to_all(); }
PERF_TEST_F_WITH(SwitchAmongThousandPerf, ThereAndBack, .items_per_call = 1000) {
  yielders_.switch_to_all();
}
PERF_TEST_F_WITH(SwitchAmongThirtyThousandPerf, ThereAndBack, .items_per_call = 30'000) {
  yielders_.switch_to_all();
}

template <std::size_t count>
class CreatePerf : public testing::Test {
 protected:
  Yielders yielders_{count};
};
using CreateThousandPerf = CreatePerf<1000>;
using CreateThirtyThousandPerf = CreatePerf<30'000>;

PERF_TEST_F_WITH(CreateThousandPerf, FromThePoolStartEndDestroy, .items_per_call = 1000) {
  yielders_.start();
  yielders_.end();
}
PERF_TEST_F_WITH(CreateThirtyThousandPerf, FromThePoolStartEndDestroy, .items_per_call = 30'000) {
  yielders_.start();
  yielders_.end();
}

class OneFiberPerf : public testing::Test {
 protected:
  static void nothing(void*) noexcept {}
  StackPool pool_{{}};
  Fiber fiber_{*pool_.acquire()};
};
PERF_TEST_F(OneFiberPerf, StartAgainAndFinish) { fiber_.start(&nothing, nullptr); }
PERF_TEST_F(OneFiberPerf, MakeStartAndFinish) {
  Fiber fiber(*pool_.acquire());
  fiber.start(&nothing, nullptr);
}

}  // namespace
}  // namespace sennit::fiber
