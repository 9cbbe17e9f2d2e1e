#pragma once
// LoadProgress: what a person sees while a load runs, on standard error: one line that is rewritten
// each second on a terminal, a line every few seconds elsewhere.

#include "sennit/load/generator.hpp"

namespace sennit::tools {

class LoadProgress {
 public:
  LoadProgress();

  /// How often show() wants to be called.
  [[nodiscard]] Duration interval() const;
  void show(const load::Progress& progress);
  /// Leaves the terminal's line free for the report.
  void clear() const;

 private:
  /// What was recorded since the last show().
  [[nodiscard]] metrics::Histogram since_last(const metrics::Histogram& all) const;

  const bool is_terminal_;
  load::Progress last_;
};

}  // namespace sennit::tools
