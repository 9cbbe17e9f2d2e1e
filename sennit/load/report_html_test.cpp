#include "sennit/load/report_html.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sennit::load {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

Report html_sample() {
  Report report;
  report.url = "http://127.0.0.1/<b>";
  report.connections = 10;
  report.workers = 1;
  report.backend = "epoll";
  report.duration = 2s;
  report.requests = 1000;
  for (int i = 1; i <= 1000; ++i) report.service_ns.record(i * 10'000);
  Report::Interval interval;
  interval.counts = {{100, 250}, {200, 250}};
  report.intervals = {interval, interval};
  report.machine.processor = "a processor & more";
  return report;
}

TEST(ReportHtml, ShowsARunAtTheFirstLook) {
  const std::string html = to_html({{"", html_sample()}});
  for (const char* text :
       {"<!doctype html>", "http://127.0.0.1/&lt;b&gt;", "<b>500</b>requests/s",
        "service time, median", "Latency by percentile", "Requests that took no longer",
        "Answers over time", "Latency over time", "a processor &amp; more"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
  for (const char* text : {"<b>\"", "nan", "http://www", "src=", "response time, median", "Void"}) {
    EXPECT_THAT(html, Not(HasSubstr(text)));
  }
}

TEST(ReportHtml, SaysFirstThatARunIsVoid) {
  Report report = html_sample();
  report.rate = 600;
  report.response_ns.record_n(1'000'000, 1000);
  report.void_reasons = {"it was <late>"};
  report.first_error = "read & fail";
  const std::string html = to_html({{"", report}});
  EXPECT_LT(html.find("Void: it was &lt;late&gt;"), html.find("class=\"tiles\""));
  EXPECT_THAT(html, HasSubstr("requests/s of 600 asked for"));
  EXPECT_THAT(html, HasSubstr("response time, median"));
  EXPECT_THAT(html, HasSubstr("read &amp; fail"));
}

TEST(ReportHtml, ComparesRuns) {
  Report beside = html_sample();
  beside.beside.push_back(html_sample());
  const std::string html = to_html({{"before", html_sample()}, {"after", beside}});
  for (const char* text : {"2 runs compared", "before, service time", "after, service time",
                           "<td>before</td>", "<td>after</td>", "beside: http"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
}

TEST(ReportHtml, OfNothingMeasuredIsStillAPage) {
  EXPECT_THAT(to_html({{"", Report()}}), Not(HasSubstr("nan")));
  EXPECT_THAT(sweep_to_html("u", {{"n", {1}}}, {{{1}}}, {}), HasSubstr("</html>"));
}

TEST(ReportHtml, ShowsAMatrixAsHeatMapsAndOneAxisAsLines) {
  const std::vector<Axis> axes = {{"connections", {1, 2}}, {"body", {16}}};
  const std::string two =
      sweep_to_html("http://h/{body}", axes, *sweep_points(axes), {html_sample(), Report()});
  EXPECT_THAT(two, HasSubstr("class=\"cell\""));
  EXPECT_THAT(two, HasSubstr("connections=1 body=16"));
  const std::vector<Axis> one = {axes[0]};
  const std::string line =
      sweep_to_html("http://h/", one, *sweep_points(one), {html_sample(), html_sample()});
  EXPECT_THAT(line, HasSubstr("class=\"line c0\""));
  EXPECT_THAT(line, Not(HasSubstr("class=\"cell\"")));
}

}  // namespace
}  // namespace sennit::load
