#include "sennit/base/random.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit {
namespace {

using perftest::do_not_optimize;

class RandomPerf : public testing::Test {
 protected:
  Random random_{1};
};

PERF_TEST_F(RandomPerf, Next) { do_not_optimize(random_.next()); }
PERF_TEST_F(RandomPerf, Below) { do_not_optimize(random_.below(1000)); }
PERF_TEST_F(RandomPerf, Between) { do_not_optimize(random_.between(-500, 500)); }
PERF_TEST_F(RandomPerf, Unit) { do_not_optimize(random_.unit()); }

}  // namespace
}  // namespace sennit
