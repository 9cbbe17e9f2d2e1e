#pragma once
// A closed loop's report with round figures, for the tests of what reports are written as.

#include <chrono>

#include "sennit/load/report.hpp"

namespace sennit::load::testing {

inline Report sample_report() {
  Report report;
  report.url = "http://127.0.0.1:8080/status";
  report.connections = 100;
  report.workers = 2;
  report.backend = "io_uring";
  report.duration = std::chrono::seconds(5);
  report.requests = 1000;
  report.bytes_read = 3 * 1024 * 1024;
  report.service_ns.record_n(200'000, 900);
  report.service_ns.record_n(3'000'000, 99);
  report.service_ns.record_n(1'500'000'000, 1);
  report.rates.record_n(100, 9);
  report.rates.record_n(1100, 1);
  return report;
}

}  // namespace sennit::load::testing
