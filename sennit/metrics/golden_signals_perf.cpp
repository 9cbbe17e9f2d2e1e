#include "sennit/metrics/golden_signals.hpp"
#include "sennit/perftest/perftest.hpp"

namespace sennit::metrics {
namespace {

// What a request pays for its route's four signals.
class GoldenSignalsPerf : public testing::Test {
 protected:
  Registry registry_{{.slots = 1}};
  GoldenSignals signals_{registry_, {.prefix = "http_server", .operation = "route"}};
  GoldenCells cells_ = signals_.cells("/users/{id}", 0);
};

PERF_TEST_F(GoldenSignalsPerf, BeginAndEnd) {
  cells_.begin();
  cells_.end(std::chrono::microseconds(150), Outcome::ok);
}
PERF_TEST_F(GoldenSignalsPerf, BeginAndEndBadly) {
  cells_.begin();
  cells_.end(std::chrono::microseconds(150), Outcome::client_error);
}

}  // namespace
}  // namespace sennit::metrics
