#include "tools/sennit/load_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <fmt/core.h>
#include <optional>

#include "sennit/load/percentile_text.hpp"
#include "sennit/load/rate_search.hpp"
#include "sennit/load/report_json.hpp"
#include "sennit/load/report_text.hpp"
#include "sennit/load/units.hpp"

namespace sennit::tools {

Result<LoadCommand::Files> LoadCommand::Files::open(const LoadArguments::Outputs& outputs) {
  Files files;
  SENNIT_TRY(files.json, OutputFile::open(outputs.json));
  SENNIT_TRY(files.html, OutputFile::open(outputs.html));
  SENNIT_TRY(files.hgrm, OutputFile::open(outputs.hgrm));
  return files;
}

LoadCommand::LoadCommand(CLI::App& app) {
  CLI::App& load = *app.add_subcommand("load", "Drive an HTTP/1.1 server and measure");
  arguments_.add_to(load);
  load.require_subcommand(0, 1);
  const auto add = [this, &load](const char* name, const char* help) {
    CLI::App* const command = load.add_subcommand(name, help);
    command->add_option("FILES", report_paths_, "what --json wrote")->required()->type_name("");
    command->add_option("--json", outputs_.json, "write the result to this file")
        ->type_name("FILE");
    command->add_option("--html", outputs_.html, "write a page with charts to this file")
        ->type_name("FILE");
    command->add_option("--hgrm", outputs_.hgrm, "write the percentiles for the plotter")
        ->type_name("FILE");
    return command;
  };
  compare_ = add("compare", "Show several reports beside each other");
  merge_ = add("merge", "Join the reports of machines that drove one server at the same time");
}

int LoadCommand::run() const {
  if (compare_->parsed()) return compare();
  if (merge_->parsed()) return merge();
  const Result<load::Options> wanted = arguments_.options();
  if (!wanted) return complain(wanted.error(), exit_usage);
  if (const auto conditions = arguments_.fail_conditions(); !conditions) {
    return complain(conditions.error(), exit_usage);
  }
  if (arguments_.is_sweep() && arguments_.is_search()) {
    return complain(Error(Errc::invalid_argument, "search and sweep at once"), exit_usage);
  }
  if (arguments_.is_sweep()) return sweep(*wanted);
  if (arguments_.is_search()) return search(*wanted);
  return measure(*wanted);
}

Result<void> LoadCommand::write_outputs(Files& files, const load::Report& report,
                                        const std::string& html) const {
  if (files.json.is_wanted()) {
    if (auto written = files.json.write(load::to_json(report)); !written) return written;
  }
  if (files.html.is_wanted()) {
    if (auto written = files.html.write(html); !written) return written;
  }
  if (files.hgrm.is_wanted()) {
    const std::string text = load::percentile_distribution(report.latency_ns());
    if (auto written = files.hgrm.write(text); !written) return written;
  }
  return {};
}

/// The exit status that a report deserves, with a word about why.
int LoadCommand::judge(const load::Report& report) const {
  if (!report.first_error.empty()) {
    fmt::print(stderr, "sennit load: the first error: {}\n", report.first_error);
  }
  if (report.requests == 0) fmt::print(stderr, "sennit load: nothing was answered\n");
  bool has_failed = report.requests == 0 || report.errors.total() > 0;
  if (const auto conditions = arguments_.fail_conditions(); conditions) {
    for (const load::Condition& condition : *conditions) {
      if (!condition.holds(report)) continue;
      fmt::print(stderr, "sennit load: failed, because {} ({})\n", condition.text(),
                 condition.value_text(report));
      has_failed = true;
    }
  }
  if (report.is_void()) return exit_void;
  return has_failed ? exit_failed : exit_ok;
}

int LoadCommand::measure(const load::Options& options) const {
  auto files = Files::open(arguments_.outputs());
  if (!files) return complain(files.error(), exit_failed);
  if (auto plan = load::Generator::check(options); !plan) {
    return complain(plan.error(), status_of(plan.error()));
  }
  Signals signals;
  fmt::print("{}", load::heading_text(options.url.text(), options.duration, options.workers,
                                      options.connections));
  std::fflush(stdout);
  const Result<load::Report> report = run_once(options, signals, true);
  if (!report) return complain(report.error(), status_of(report.error()));
  fmt::print("{}", load::to_text(*report, arguments_.shows_distribution()));
  if (std::fflush(stdout) != 0) {
    return complain(Error::from_os(errno, "write to standard output"), exit_failed);
  }
  const std::string html = load::to_html({{"", *report}});
  if (const auto written = write_outputs(*files, *report, html); !written) {
    return complain(written.error(), exit_failed);
  }
  return judge(*report);
}

int LoadCommand::sweep(const load::Options& options) const {
  const auto axes = arguments_.axes();  // Both were checked when the options were made.
  const auto points = load::sweep_points(*axes);
  auto files = Files::open(arguments_.outputs());
  if (!files) return complain(files.error(), exit_failed);
  Signals signals;
  std::vector<load::Report> reports;
  std::string json = "[\n";
  int status = exit_ok;
  for (const load::SweepPoint& point : *points) {
    const auto at = load::options_at(options, arguments_.url(), *axes, point);
    if (!at) return complain(at.error(), exit_usage);
    const auto report = run_once(*at, signals, false);
    if (!report) return complain(report.error(), status_of(report.error()));
    if (signals.have_come()) break;
    std::string values;
    for (std::size_t i = 0; i < axes->size(); ++i) {
      values += fmt::format(" {}={}", (*axes)[i].name, point.values[i]);
    }
    fmt::print(
        "{:4} of {}:{}: {:.2f} requests/s, 50% {}, 99% {}, {} errors{}\n", reports.size() + 1,
        points->size(), values, report->requests_per_second(),
        load::format_microseconds(static_cast<double>(report->latency_ns().percentile(50)) / 1e3),
        load::format_microseconds(static_cast<double>(report->latency_ns().percentile(99)) / 1e3),
        report->errors.total(), report->is_void() ? ", void" : "");
    std::fflush(stdout);
    status = std::max(status, judge(*report));
    json += (reports.empty() ? "" : ",\n") + load::to_json(*report);
    reports.push_back(*report);
  }
  if (signals.have_come()) {
    fmt::print(stderr, "sennit load: interrupted after {} of {} runs\n", reports.size(),
               points->size());
  }
  if (files->json.is_wanted()) {
    if (auto written = files->json.write(json + "]\n"); !written) {
      return complain(written.error(), exit_failed);
    }
  }
  if (files->html.is_wanted()) {
    const std::string html = load::sweep_to_html(arguments_.url(), *axes, *points, reports);
    if (auto written = files->html.write(html); !written) {
      return complain(written.error(), exit_failed);
    }
  }
  return status;
}

/// Tries rates until the highest that holds is known; the last good run is the one reported.
int LoadCommand::search(const load::Options& options) const {
  const auto slo = arguments_.slo();
  if (!slo) return complain(slo.error(), exit_usage);
  auto files = Files::open(arguments_.outputs());
  if (!files) return complain(files.error(), exit_failed);
  Signals signals;
  constexpr double first_rate = 1000;
  load::RateSearch search(options.rate.empty() ? first_rate : options.rate.front().from);
  std::optional<load::Report> best;
  while (const auto rate = search.next()) {
    load::Options tried = options;
    tried.rate = {{options.duration, *rate, *rate}};
    const auto report = run_once(tried, signals, false);
    if (!report) return complain(report.error(), status_of(report.error()));
    if (signals.have_come()) break;
    // Whoever does not keep up has not held, whatever the few answers say.
    const bool keeps_up = report->requests_per_second() >= 0.98 * report->rate;
    const bool holds =
        slo->holds(*report) && keeps_up && !report->is_void() && report->errors.total() == 0;
    fmt::print("{:12.0f} requests/s: {}, {}{}{}\n", *rate, slo->value_text(*report),
               holds ? "holds" : "does not hold",
               keeps_up ? "" : fmt::format(", only {:.0f} answered", report->requests_per_second()),
               report->is_void() ? ", void: the generator is at its limit" : "");
    std::fflush(stdout);
    search.tell(holds);
    if (holds) best = *report;
  }
  if (!best) {
    fmt::print("{} held at no rate\n", slo->text());
    return exit_failed;
  }
  fmt::print("{} holds up to {:.0f} requests/s\n", slo->text(), search.best());
  const std::string html = load::to_html({{"", *best}});
  if (const auto written = write_outputs(*files, *best, html); !written) {
    return complain(written.error(), exit_failed);
  }
  return signals.have_come() ? exit_failed : exit_ok;
}

}  // namespace sennit::tools
