#pragma once
// What one run of a test program has in common: its flags and its results so far. GoogleTest makes
// the tests itself and hands them nothing, so this is reached through a function.

#include <vector>

#include "sennit/perftest/flags.hpp"
#include "sennit/perftest/report.hpp"

namespace sennit::perftest::detail {

struct Session {
  Flags flags;
  Report report;
};

Session& session();

}  // namespace sennit::perftest::detail
