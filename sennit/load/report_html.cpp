#include "sennit/load/report_html.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>

#include "sennit/base/assert.hpp"
#include "sennit/load/chart.hpp"
#include "sennit/load/units.hpp"

namespace sennit::load {
namespace {

using metrics::Histogram;

constexpr std::string_view page_style = R"(:root { color-scheme: light dark; --text: #1f2937;
  --soft: #6b7280; --line: #e5e7eb; --page: #fff; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --text: #e5e7eb; --soft: #9ca3af; --line: #374151;
  --page: #111827; --bad: #f87171; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 1340px; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.3rem; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin-top: 2rem; }
.void { border: 2px solid var(--bad); color: var(--bad); padding: .6rem 1rem; font-weight: 600; }
.tiles { display: flex; flex-wrap: wrap; gap: .8rem 2rem; margin: 1rem 0; }
.tile b { display: block; font-size: 1.6rem; line-height: 1.2; } .tile { color: var(--soft); }
.tile b { color: var(--text); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr));
  gap: 1.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; } td, th { padding: .25rem .8rem .25rem 0;
  text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
td:first-child, th:first-child { text-align: left; }
)";

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }
std::string time_text(std::int64_t ns) { return format_microseconds(microseconds(ns)); }

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>\n{}{}</style></head><body>\n{}</body></html>\n",
      escape_html(title), page_style, chart_style(), body);
}

std::string tile(std::string_view value, std::string_view label) {
  return fmt::format("<div class=\"tile\"><b>{}</b>{}</div>\n", escape_html(value),
                     escape_html(label));
}

std::string void_banner(const Report& report, std::string_view name) {
  std::string html;
  for (const std::string& reason : report.void_reasons) {
    html += fmt::format("<p class=\"void\">Void{}{}: {}</p>\n", name.empty() ? "" : ", ",
                        escape_html(name), escape_html(reason));
  }
  return html;
}

std::string tiles(const Report& report) {
  const Histogram& latency = report.latency_ns();
  std::string html = "<div class=\"tiles\">\n";
  html += tile(fmt::format("{:.0f}", report.requests_per_second()),
               report.is_open_loop() ? fmt::format("requests/s of {:.0f} asked for", report.rate)
                                     : std::string("requests/s, as many as were answered"));
  const char* const kind = report.is_open_loop() ? "response time" : "service time";
  for (const auto& [percent, label] :
       {std::pair{50.0, "median"}, std::pair{99.0, "99 %"}, std::pair{99.9, "99.9 %"}}) {
    html += tile(time_text(latency.percentile(percent)), fmt::format("{}, {}", kind, label));
  }
  html += tile(time_text(latency.max()), "slowest");
  html += tile(std::to_string(report.errors.total()), "errors");
  return html + "</div>\n";
}

ChartSeries percentile_series(std::string name, const Histogram& histogram) {
  ChartSeries series{std::move(name), {}};
  const auto total = static_cast<double>(histogram.count());
  std::uint64_t up_to = 0;
  double drawn = -1;
  for (const auto& bucket : histogram.buckets()) {
    const double percent = 100 * static_cast<double>(up_to) / total;
    const double nines = -std::log10(1 - percent / 100);
    if (nines - drawn >= 0.005) {  // A point for each pixel or so is enough.
      series.points.push_back({percent, microseconds(std::min(bucket.highest, histogram.max()))});
      drawn = nines;
    }
    up_to += bucket.count;
  }
  return series;
}

ChartSeries distribution_series(std::string name, const Histogram& histogram) {
  ChartSeries series{std::move(name), {}};
  const auto total = static_cast<double>(histogram.count());
  std::uint64_t up_to = 0;
  double drawn = -1;
  for (const auto& bucket : histogram.buckets()) {
    up_to += bucket.count;
    const double percent = 100 * static_cast<double>(up_to) / total;
    if (percent - drawn < 0.1 && up_to < histogram.count()) continue;
    series.points.push_back({microseconds(std::min(bucket.highest, histogram.max())), percent});
    drawn = percent;
  }
  return series;
}

std::string label_of(const std::string& name, const char* what) {
  return name.empty() ? std::string(what) : name + ", " + what;
}

std::string latency_charts(const std::vector<NamedReport>& reports) {
  std::vector<ChartSeries> percentiles, distributions;
  for (const auto& [name, report] : reports) {
    const std::string shown = reports.size() > 1 ? name : std::string();
    if (report.is_open_loop()) {
      percentiles.push_back(
          percentile_series(label_of(shown, "response time"), report.response_ns));
      distributions.push_back(
          distribution_series(label_of(shown, "response time"), report.response_ns));
    }
    percentiles.push_back(percentile_series(label_of(shown, "service time"), report.service_ns));
    distributions.push_back(
        distribution_series(label_of(shown, "service time"), report.service_ns));
    for (const Report& other : report.beside) {
      percentiles.push_back(percentile_series(label_of(shown, "beside"), other.latency_ns()));
    }
  }
  const ChartAxis time{"latency", Scale::logarithmic, Unit::microseconds};
  return line_chart("Latency by percentile", {"percentile", Scale::nines, Unit::percent}, time,
                    percentiles) +
         line_chart("Requests that took no longer", time, {"share", Scale::linear, Unit::percent},
                    distributions);
}

std::string time_charts(const std::vector<NamedReport>& reports) {
  std::vector<ChartSeries> rates, latencies, errors;
  for (const auto& [name, report] : reports) {
    const std::string shown = reports.size() > 1 ? name : std::string();
    ChartSeries rate{label_of(shown, "requests/s"), {}}, median{label_of(shown, "median"), {}};
    ChartSeries tail{label_of(shown, "99 %"), {}}, slowest{label_of(shown, "slowest"), {}};
    ChartSeries failed{label_of(shown, "errors/s"), {}};
    for (std::size_t i = 0; i < report.intervals.size(); ++i) {
      const double length = std::min(
          1.0, std::chrono::duration<double>(report.duration).count() - static_cast<double>(i));
      if (length < 0.2) continue;  // The rest behind the last whole second says little.
      const Histogram histogram = report.intervals[i].histogram();
      const double second = static_cast<double>(i) + length;
      rate.points.push_back({second, static_cast<double>(histogram.count()) / length});
      failed.points.push_back({second, static_cast<double>(report.intervals[i].errors) / length});
      median.points.push_back({second, microseconds(histogram.percentile(50))});
      tail.points.push_back({second, microseconds(histogram.percentile(99))});
      slowest.points.push_back({second, microseconds(histogram.max())});
    }
    rates.push_back(std::move(rate));
    if (report.errors.total() > 0) errors.push_back(std::move(failed));
    latencies.push_back(std::move(median));
    latencies.push_back(std::move(tail));
    if (reports.size() == 1) latencies.push_back(std::move(slowest));
  }
  const ChartAxis time{"time", Scale::linear, Unit::seconds};
  rates.insert(rates.end(), errors.begin(), errors.end());
  return line_chart("Answers over time", time, {"per second"}, rates) +
         line_chart("Latency over time", time, {"latency", Scale::logarithmic, Unit::microseconds},
                    latencies);
}

void add_row(std::string& html, std::string_view name, const Report& report) {
  const Histogram& latency = report.latency_ns();
  html += fmt::format(
      "<tr><td>{}{}</td><td>{}</td><td>{}</td><td>{:.0f}</td><td>{}</td><td>{}</td><td>{}</td>"
      "<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.0f} %</td></tr>\n",
      escape_html(name), report.is_void() ? " (void)" : "", report.connections,
      report.is_open_loop() ? fmt::format("{:.0f}/s", report.rate) : std::string("closed loop"),
      report.requests_per_second(), time_text(latency.percentile(50)),
      time_text(latency.percentile(90)), time_text(latency.percentile(99)),
      time_text(latency.percentile(99.9)), time_text(latency.max()),
      time_text(report.service_ns.percentile(99)), report.errors.total(), report.cpu_busy * 100);
}

std::string table(const std::vector<NamedReport>& reports) {
  std::string html =
      "<div class=\"wide\"><table><tr><th>run</th><th>connections</th><th>rate</th>"
      "<th>requests/s</th><th>50 %</th><th>90 %</th><th>99 %</th><th>99.9 %</th><th>max</th>"
      "<th>service 99 %</th><th>errors</th><th>generator's CPU</th></tr>\n";
  for (const auto& [name, report] : reports) {
    add_row(html, name, report);
    for (const Report& other : report.beside) add_row(html, "beside: " + other.url, other);
  }
  return html + "</table></div>\n";
}

std::string context(const Report& report) {
  const MachineContext& machine = report.machine;
  return fmt::format(
      "<h2>Where and how</h2>\n<p>{} on {}: {}, {} CPUs usable, {}, {} open files allowed, load "
      "average {:.2f} at the start. {} threads, {}, {:.1f} s measured.</p>\n"
      "<p>Service time counts from when a request was sent, response time from when it was due. A "
      "closed loop knows no second one: it asks again when it is answered, so that a stall delays "
      "one request of each connection and not those that users would have sent meanwhile.</p>\n",
      escape_html(machine.time), escape_html(machine.host), escape_html(machine.processor),
      machine.cpus, escape_html(machine.kernel), machine.open_files, machine.load_average,
      report.workers, escape_html(report.backend),
      std::chrono::duration<double>(report.duration).count());
}

/// What a matrix shows of each run.
struct Figure {
  const char* title;
  Unit unit;
  double (*value)(const Report&);
};
constexpr Figure figures[] = {
    {"Requests per second", Unit::plain, [](const Report& r) { return r.requests_per_second(); }},
    {"Median latency", Unit::microseconds,
     [](const Report& r) { return microseconds(r.latency_ns().percentile(50)); }},
    {"99 % latency", Unit::microseconds,
     [](const Report& r) { return microseconds(r.latency_ns().percentile(99)); }},
};

std::string matrix(const Figure& figure, const Axis& rows, const Axis& columns,
                   const std::vector<Report>& reports) {
  HeatMap map;
  for (const std::uint64_t value : rows.values) map.rows.push_back(std::to_string(value));
  for (const std::uint64_t value : columns.values) map.columns.push_back(std::to_string(value));
  for (std::size_t i = 0; i < rows.values.size() * columns.values.size(); ++i) {
    const bool is_measured = i < reports.size() && reports[i].requests > 0;
    map.values.push_back(is_measured ? figure.value(reports[i]) : std::nan(""));
  }
  return heat_map(figure.title, columns.name, rows.name, map, figure.unit);
}

std::string lines(const Figure& figure, const Axis& axis, const std::vector<SweepPoint>& points,
                  const std::vector<Report>& reports) {
  ChartSeries series{figure.title, {}};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    series.points.push_back({static_cast<double>(points[i].values[0]), figure.value(reports[i])});
  }
  return line_chart(figure.title, {axis.name, Scale::logarithmic, Unit::plain},
                    {figure.title, Scale::linear, figure.unit}, {series});
}

}  // namespace

std::string to_html(const std::vector<NamedReport>& reports) {
  SENNIT_ASSERT(!reports.empty());
  const Report& first = reports.front().report;
  const std::string title =
      reports.size() == 1 ? first.url : fmt::format("{} runs compared", reports.size());
  std::string body = fmt::format("<h1>{}</h1>\n", escape_html(title));
  for (const auto& [name, report] : reports) {
    body += void_banner(report, reports.size() > 1 ? name : std::string());
  }
  if (reports.size() == 1) body += tiles(first);
  body += table(reports) + "<div class=\"charts\">\n" + latency_charts(reports) +
          time_charts(reports) + "</div>\n";
  for (const auto& [name, report] : reports) {
    if (!report.first_error.empty()) {
      body += fmt::format("<p>The first error{}: {}</p>\n",
                          reports.size() > 1 ? " of " + escape_html(name) : std::string(),
                          escape_html(report.first_error));
    }
  }
  return page("sennit load: " + title, body + context(first));
}

std::string sweep_to_html(std::string_view url, const std::vector<Axis>& axes,
                          const std::vector<SweepPoint>& points,
                          const std::vector<Report>& reports) {
  SENNIT_ASSERT(reports.size() <= points.size());
  std::string body = fmt::format("<h1>{}</h1>\n<div class=\"charts\">\n", escape_html(url));
  for (const Figure& figure : figures) {
    if (axes.size() == 2) body += matrix(figure, axes[0], axes[1], reports);
    if (axes.size() == 1) body += lines(figure, axes[0], points, reports);
  }
  body += "</div>\n<h2>All runs</h2>\n";
  std::vector<NamedReport> named;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    std::string name;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      name += fmt::format("{}{}={}", a > 0 ? " " : "", axes[a].name, points[i].values[a]);
    }
    named.push_back({std::move(name), reports[i]});
  }
  body += table(named);
  if (!reports.empty()) body += context(reports.front());
  return page("sennit load: a matrix", body);
}

}  // namespace sennit::load
