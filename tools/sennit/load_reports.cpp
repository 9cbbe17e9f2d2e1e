// `sennit load compare` and `sennit load merge`: what is done with reports afterwards.

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "sennit/load/report_json.hpp"
#include "sennit/load/report_text.hpp"
#include "sennit/load/units.hpp"

#include "tools/sennit/load_command.hpp"

namespace sennit::tools {
namespace {

std::string time_of(const load::Report& report, double percent) {
  return load::format_microseconds(static_cast<double>(report.latency_ns().percentile(percent)) /
                                   1e3);
}

/// How much more or less than the first, in percent.
std::string change(double before, double after) {
  return before > 0 ? fmt::format("{:+.1f}%", 100 * (after - before) / before) : "-";
}

void print_row(const load::NamedReport& row, const load::Report& first, bool is_first) {
  const auto& [name, report] = row;
  fmt::print("{:<24}{:>12.0f}{:>9}{:>11}{:>11}{:>11}{:>9}{:>9}{}\n", name,
             report.requests_per_second(),
             is_first ? "" : change(first.requests_per_second(), report.requests_per_second()),
             time_of(report, 50), time_of(report, 99), time_of(report, 99.9),
             is_first ? ""
                      : change(static_cast<double>(first.latency_ns().percentile(99)),
                               static_cast<double>(report.latency_ns().percentile(99))),
             report.errors.total(), report.is_void() ? "  void" : "");
}

}  // namespace

Result<std::vector<load::NamedReport>> LoadCommand::read_reports() const {
  std::vector<load::NamedReport> reports;
  for (const std::string& path : report_paths_) {
    SENNIT_TRY(const std::string text, read_file(path));
    auto report = load::report_from_json(text);
    if (!report) {
      return failure(report.error().code(), report.error().doing() + " in " + path);
    }
    const std::size_t slash = path.rfind('/');
    std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
    if (name.ends_with(".json")) name.resize(name.size() - 5);
    reports.push_back({std::move(name), std::move(*report)});
  }
  return reports;
}

int LoadCommand::compare() const {
  auto html = OutputFile::open(outputs_.html);
  if (!html) return complain(html.error(), exit_failed);
  if (!outputs_.json.empty() || !outputs_.hgrm.empty()) {
    return complain(Error(Errc::invalid_argument, "compare into --json or --hgrm (merge does)"),
                    exit_usage);
  }
  const auto reports = read_reports();
  if (!reports) return complain(reports.error(), exit_failed);
  fmt::print("{:<24}{:>12}{:>9}{:>11}{:>11}{:>11}{:>9}{:>9}\n", "", "requests/s", "", "50%", "99%",
             "99.9%", "99%", "errors");
  for (const load::NamedReport& report : *reports) {
    print_row(report, reports->front().report, &report == &reports->front());
  }
  if (html->is_wanted()) {
    if (auto written = html->write(load::to_html(*reports)); !written) {
      return complain(written.error(), exit_failed);
    }
  }
  return exit_ok;
}

int LoadCommand::merge() const {
  auto files = Files::open(outputs_);
  if (!files) return complain(files.error(), exit_failed);
  const auto reports = read_reports();
  if (!reports) return complain(reports.error(), exit_failed);
  load::Report merged = reports->front().report;
  for (std::size_t i = 1; i < reports->size(); ++i) {
    if ((*reports)[i].report.is_open_loop() != merged.is_open_loop()) {
      return complain(Error(Errc::invalid_argument, "merge an open loop with a closed one"),
                      exit_usage);
    }
    merged.merge((*reports)[i].report);
  }
  fmt::print("{}", load::to_text(merged, true));
  const std::string html = load::to_html({{"", merged}});
  if (const auto written = write_outputs(*files, merged, html); !written) {
    return complain(written.error(), exit_failed);
  }
  return judge(merged);
}

}  // namespace sennit::tools
