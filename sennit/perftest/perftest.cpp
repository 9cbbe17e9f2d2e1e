#include "sennit/perftest/perftest.hpp"

#include <cstdio>
#include <fmt/core.h>
#include <string>

#include "sennit/perftest/compare.hpp"
#include "sennit/perftest/crew.hpp"
#include "sennit/perftest/detail/session.hpp"
#include "sennit/perftest/measure.hpp"
#include "sennit/perftest/report.hpp"

namespace sennit::perftest {
namespace {

// Set before main() by a program that includes fibers.hpp.
constinit MakeFiberStage make_fiber_stage = nullptr;

}  // namespace

namespace detail {

bool use_fibers(MakeFiberStage make) {
  make_fiber_stage = make;
  return true;
}

Session& session() {
  static Session session{.flags = {}, .report = {.machine = this_machine(), .tests = {}}};
  return session;
}

std::string current_test_name() {
  const ::testing::TestInfo* const info = ::testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("{}.{}", info->test_suite_name(), info->name());
}

}  // namespace detail

namespace {

using detail::current_test_name;
using detail::session;

std::string baseline_path(const std::string& directory) {
  return directory + "/" + session().report.machine.machine_class() + ".json";
}

bool complained(const Result<>& done) {
  if (!done) fmt::print(stderr, "perftest: could not {}\n", done.error().to_string());
  return !done;
}

// Whether something got slower than the baseline, or it could not be read.
bool regressed(const Flags& flags) {
  const std::string path = baseline_path(flags.baseline);
  const Result<Recorded> before = read_report(path);
  if (!before && before.error().code() == Errc::not_found) {
    fmt::print("perftest: no baseline for this kind of machine and build: {}\n", path);
    return false;
  }
  if (!before) return complained(failure(before.error()));
  const Result<Recorded> after = from_json(to_json(session().report));
  const Comparison comparison = compare(*before, *after, flags.threshold_percent);
  fmt::print("\ncompared with {}:\n{}", path, describe(comparison));
  return comparison.has_regression();
}

}  // namespace

// Between measure() and what the macros made.
class Perf::PerfBody final : public Body {
 public:
  explicit PerfBody(Perf& perf) : perf_(perf) {}
  void run(Batch& batch) override { perf_.perf_calls(batch); }
  [[nodiscard]] bool failed() const override { return ::testing::Test::HasFatalFailure(); }

 private:
  Perf& perf_;
};

void Perf::perf_abort() {
  if (perf_running_ != nullptr) perf_running_->abort();
}

void Perf::perf_run() {
  detail::Session& shared = session();
  const Settings settings = settle(perf_options(), shared.flags);
  if (settings.fibers > 0 && make_fiber_stage == nullptr) {
    ADD_FAILURE() << "it asks for fibers: include sennit/perftest/fibers.hpp in one file";
    return;
  }
  Stage stage = settings.fibers > 0
                    ? make_fiber_stage(settings.threads)
                    : Stage{std::make_unique<ThreadCrew>(), std::make_unique<RealTimeline>()};
  PerfBody body(*this);
  perf_running_ = &body;
  const Measurement measurement = measure(body, settings, *stage.crew, *stage.timeline);
  perf_running_ = nullptr;
  if (shared.report.tests.empty() && settings.counters &&
      !measurement.counters_unavailable.empty()) {
    fmt::print("perftest: could not {}; counting none\n", measurement.counters_unavailable);
  }
  fmt::print("{}", describe(measurement, settings));
  std::fflush(stdout);  // GoogleTest writes to the same stream by other means.
  shared.report.tests.push_back({current_test_name(), settings, measurement, {}});
}

int run_all(int argc, char** argv) {
  Result<Flags> flags = parse_flags(argc, argv);
  if (!flags) {
    fmt::print(stderr, "perftest: could not {}\n\n{}", flags.error().to_string(), flags_help());
    return 1;
  }
  session().flags = *flags;
  if (flags->help) fmt::print("{}\n", flags_help());
  ::testing::InitGoogleTest(&argc, argv);
  if (argc > 1 && !flags->help) {
    fmt::print(stderr, "perftest: what is {}? See --help.\n", argv[1]);
    return 1;
  }
  int status = RUN_ALL_TESTS();
  const Report& report = session().report;
  if (!flags->json.empty() && complained(write_report(report, flags->json))) status = 1;
  if (!flags->baseline.empty() && regressed(*flags)) status = 1;
  if (!flags->save_baseline.empty() &&
      complained(write_report(report, baseline_path(flags->save_baseline)))) {
    status = 1;
  }
  return status;
}

}  // namespace sennit::perftest
