#pragma once
// `sennit load`: drives an HTTP server and reports what it measured; compares and merges reports.

#include <string>
#include <vector>

#include "sennit/load/report_html.hpp"

#include "tools/sennit/load_arguments.hpp"
#include "tools/sennit/load_files.hpp"
#include "tools/sennit/load_run.hpp"

namespace sennit::tools {

class LoadCommand {
 public:
  /// Adds the subcommand to `app`, which fills this object when it parses.
  explicit LoadCommand(CLI::App& app);
  LoadCommand(const LoadCommand&) = delete;
  LoadCommand& operator=(const LoadCommand&) = delete;

  /// Runs it and returns what main() should.
  [[nodiscard]] int run() const;

 private:
  /// What is written at the end, opened at the beginning.
  struct Files {
    OutputFile json, html, hgrm;
    [[nodiscard]] static Result<Files> open(const LoadArguments::Outputs& outputs);
  };
  [[nodiscard]] int measure(const load::Options& options) const;
  [[nodiscard]] int sweep(const load::Options& options) const;
  [[nodiscard]] int search(const load::Options& options) const;
  [[nodiscard]] int compare() const;
  [[nodiscard]] int merge() const;
  [[nodiscard]] Result<std::vector<load::NamedReport>> read_reports() const;
  [[nodiscard]] int judge(const load::Report& report) const;
  [[nodiscard]] Result<void> write_outputs(Files& files, const load::Report& report,
                                           const std::string& html) const;

  LoadArguments arguments_;
  CLI::App* compare_;
  CLI::App* merge_;
  std::vector<std::string> report_paths_;
  LoadArguments::Outputs outputs_;  // Of compare and merge.
};

}  // namespace sennit::tools
