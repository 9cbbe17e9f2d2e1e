#include "sennit/metrics/exposition.hpp"

#include <gtest/gtest.h>
#include <limits>
#include <string>

namespace sennit::metrics {
namespace {

// One of each kind, with values that need escaping.
void fill(Registry& registry) {
  auto& requests = registry.counter("requests_total", "Requests, by \"route\".", {"route", "code"});
  requests.with("/a\"b\\c\nd", "200").cell(0).add(3);
  requests.with("/", "404").cell(0).add();
  registry.gauge("open", "Open now,\nor held.").with().cell(0).set(2.5);
  registry.gauge_from("heap_bytes", "Bytes.", [] { return 4096.0; });
  registry.counter_from("cpu_seconds_total", "Processor time.", [] { return 1.5; });
  HistogramSettings settings;
  settings.bounds = {0.001, 1};
  HistogramCell& taken =
      registry.histogram("taken_seconds", "Time taken.", {"route"}, settings).with("/").cell(0);
  taken.record(500'000);
  taken.record(2'000'000);
  taken.record(3'000'000'000);
}

TEST(Exposition, SpeaksPrometheus) {
  Registry registry({});
  fill(registry);
  EXPECT_EQ(exposition(registry, TextFormat::prometheus),
            R"(# HELP cpu_seconds_total Processor time.
# TYPE cpu_seconds_total counter
cpu_seconds_total 1.5
# HELP heap_bytes Bytes.
# TYPE heap_bytes gauge
heap_bytes 4096.0
# HELP open Open now,\nor held.
# TYPE open gauge
open 2.5
# HELP requests_total Requests, by "route".
# TYPE requests_total counter
requests_total{route="/",code="404"} 1
requests_total{route="/a\"b\\c\nd",code="200"} 3
# HELP taken_seconds Time taken.
# TYPE taken_seconds histogram
taken_seconds_bucket{route="/",le="0.001"} 1
taken_seconds_bucket{route="/",le="1.0"} 2
taken_seconds_bucket{route="/",le="+Inf"} 3
taken_seconds_sum{route="/"} 3.0025
taken_seconds_count{route="/"} 3
)");
}

TEST(Exposition, SpeaksOpenMetrics) {
  Registry registry({});
  fill(registry);
  EXPECT_EQ(exposition(registry, TextFormat::openmetrics),
            R"(# HELP cpu_seconds Processor time.
# TYPE cpu_seconds counter
# UNIT cpu_seconds seconds
cpu_seconds_total 1.5
# HELP heap_bytes Bytes.
# TYPE heap_bytes gauge
# UNIT heap_bytes bytes
heap_bytes 4096.0
# HELP open Open now,\nor held.
# TYPE open gauge
open 2.5
# HELP requests Requests, by \"route\".
# TYPE requests counter
requests_total{route="/",code="404"} 1
requests_total{route="/a\"b\\c\nd",code="200"} 3
# HELP taken_seconds Time taken.
# TYPE taken_seconds histogram
# UNIT taken_seconds seconds
taken_seconds_bucket{route="/",le="0.001"} 1
taken_seconds_bucket{route="/",le="1.0"} 2
taken_seconds_bucket{route="/",le="+Inf"} 3
taken_seconds_sum{route="/"} 3.0025
taken_seconds_count{route="/"} 3
# EOF
)");
}

TEST(Exposition, SaysWhichFamilyOverflowed) {
  Registry registry({.series_max = 1});
  auto& family = registry.counter("requests_total", "Requests.", {"path"});
  for (const char* const path : {"/a", "/b", "/c"}) family.with(path).cell(0).add();
  const std::string text = exposition(registry, TextFormat::prometheus);
  EXPECT_NE(text.find("requests_total{path=\"other\"} 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("sennit_metrics_label_overflow_total{family=\"requests_total\"} 2\n"),
            std::string::npos)
      << text;
}

TEST(Exposition, ShowsNumbersThatAreNone) {
  Registry registry({});
  registry.gauge_from("a", "", [] { return std::numeric_limits<double>::quiet_NaN(); });
  registry.gauge_from("b", "", [] { return std::numeric_limits<double>::infinity(); });
  registry.gauge_from("c", "", [] { return -std::numeric_limits<double>::infinity(); });
  const std::string text = exposition(registry, TextFormat::prometheus);
  EXPECT_NE(text.find("\na NaN\n"), std::string::npos);
  EXPECT_NE(text.find("\nb +Inf\n"), std::string::npos);
  EXPECT_NE(text.find("\nc -Inf\n"), std::string::npos);
}

TEST(Exposition, AsksForSeriesThatOthersKeep) {
  Registry registry({});
  registry.gauges_from("ready_jobs", "Ready.", {"worker"},
                       [] { return Registry::Series<double>{{{"0"}, 3.0}, {{"1"}, 4.0}}; });
  registry.counters_from("turns_total", "Turns.", {"worker"},
                         [] { return Registry::Series<double>{{{"0"}, 7.0}}; });
  HistogramSettings settings;
  settings.bounds = {1};
  registry.histograms_from("lag_seconds", "Lag.", {"worker"}, settings, [&] {
    Histogram histogram(settings.recorded);
    histogram.record(2'000'000'000);
    return Registry::Series<Histogram>{{{"0"}, histogram}};
  });
  const std::string text = exposition(registry, TextFormat::prometheus);
  for (const char* const line :
       {"\nready_jobs{worker=\"0\"} 3.0\nready_jobs{worker=\"1\"} 4.0\n",
        "\nturns_total{worker=\"0\"} 7.0\n", "\nlag_seconds_bucket{worker=\"0\",le=\"1.0\"} 0\n",
        "\nlag_seconds_count{worker=\"0\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in\n" << text;
  }
}

TEST(Exposition, NegotiatesItsFormat) {
  EXPECT_EQ(format_for_accept("text/plain"), TextFormat::prometheus);
  EXPECT_EQ(format_for_accept(""), TextFormat::prometheus);
  EXPECT_EQ(format_for_accept("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"),
            TextFormat::openmetrics);
  EXPECT_EQ(content_type(TextFormat::prometheus), "text/plain; version=0.0.4; charset=utf-8");
}

}  // namespace
}  // namespace sennit::metrics
