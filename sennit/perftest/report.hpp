#pragma once
// Results as text for people and as JSON for programs.
//
// The JSON of a run, with times in nanoseconds per call:
//
//   {"format": "sennit-perftest-1",
//    "machine": {"class": ..., "processor": ..., "cores": ..., "compiler": ..., "build": ...},
//    "tests": [{"name": "Pid.Get", "calls": ..., "seconds": ..., "hz": ..., "threads": ...,
//               "ns_per_call": {"median": ..., "least": ..., "greatest": ..., "repetitions":
//               [...]}, "latency_ns": {"p50": ..., ..., "max": ..., "mean": ...},
//               "counters_per_call": {"instructions": ..., "cycles": ..., "cache_misses": ...},
//               "counters_unavailable": why, "allocations_per_call": ...,
//               "beside": {"name": "Pid.Other", "ratio": ..., "rounds": [...]}, ...}]}
//
// What was not measured is absent. Thread safety: values and pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/perftest/machine.hpp"
#include "sennit/perftest/measure.hpp"
#include "sennit/perftest/options.hpp"

namespace sennit::perftest {

/// 1234 is "1.23 us": three digits that can be read at a glance.
[[nodiscard]] std::string readable(double nanoseconds);

/// The lines shown below a test: count, time, HZ and 1/HZ as gtestx has them, then what is new.
[[nodiscard]] std::string describe(const Measurement& measurement, const Settings& settings);

/// 1234567.5 with 2 digits is "1,234,567.50".
[[nodiscard]] std::string with_commas(double number, int digits);

/// What took part in rounds with others (rounds.hpp): its time beside that of the first of them.
struct Beside {
  std::string name;  // Of the first one's result.
  std::vector<double> ratios;
};

struct TestResult {
  std::string name;  // "Suite.Name", with GoogleTest's parts for types and parameters.
  Settings settings;
  Measurement measurement;
  std::optional<Beside> beside;
};

struct Report {
  Machine machine;
  std::vector<TestResult> tests;
};
[[nodiscard]] std::string to_json(const Report& report);

/// What comparing needs of a report.
struct Recorded {
  struct Test {
    std::string name;
    std::vector<double> ns_per_call;  // Of each repetition, all greater than 0, at most 100.
    std::optional<Beside> beside;     // The same of its ratios.
  };
  std::string machine_class;
  std::vector<Test> tests;
};
/// Errors: malformed when it is not such a report.
[[nodiscard]] Result<Recorded> from_json(std::string_view json);

/// Errors: not_found and the like.
[[nodiscard]] Result<Recorded> read_report(const std::string& path);
/// Errors: permission_denied and the like; the file is then missing or incomplete.
[[nodiscard]] Result<> write_report(const Report& report, const std::string& path);

}  // namespace sennit::perftest
