#pragma once
// Reports as one self-contained HTML page: figures first, then charts, then where it was measured.
//
// Nothing is loaded from anywhere; everything from outside is escaped. Thread safety: pure
// functions.

#include <string>
#include <string_view>
#include <vector>

#include "sennit/load/report.hpp"
#include "sennit/load/sweep.hpp"

namespace sennit::load {

struct NamedReport {
  std::string name;
  Report report;
};

/// One run, or several beside each other. Requires one at least.
[[nodiscard]] std::string to_html(const std::vector<NamedReport>& reports);

/// The runs of a matrix, in the order of its points: heat maps over two axes, lines over one, and a
/// table of all.
[[nodiscard]] std::string sweep_to_html(std::string_view url, const std::vector<Axis>& axes,
                                        const std::vector<SweepPoint>& points,
                                        const std::vector<Report>& reports);

}  // namespace sennit::load
