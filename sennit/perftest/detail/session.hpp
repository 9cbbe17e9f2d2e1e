#pragma once
// What one run of a test program has in common: its flags and its results so far. GoogleTest makes
// the tests itself and hands them nothing, so this is reached through a function.

#include <string>

#include "sennit/perftest/flags.hpp"
#include "sennit/perftest/perftest.hpp"
#include "sennit/perftest/report.hpp"

namespace sennit::perftest::detail {

struct Session {
  Flags flags;
  Report report;
};

Session& session();

/// For measuring what the loop of a test itself costs.
struct PerfCalls {
  static void run(Perf& perf, Batch& batch) { perf.perf_calls(batch); }
};

/// "Suite.Name" of the test that runs.
std::string current_test_name();

}  // namespace sennit::perftest::detail
