#include "sennit/perftest/report.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sennit/perftest/statistics.hpp"

namespace sennit::perftest {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "sennit-perftest-1";
constexpr std::size_t repetitions_max = 100;

struct NamedPercentile {
  const char* name;
  double percent;
};
constexpr NamedPercentile percentiles[] = {{"p50", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}};

std::string per_second(double amount, const char* unit) {
  constexpr const char* prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (amount >= 1000 && prefix + 1 < std::size(prefixes)) {
    amount /= 1000;
    ++prefix;
  }
  return fmt::format("{:.3f} {}{}/s", amount, prefixes[prefix], unit);
}

void append_line(std::string& text, std::string_view name, std::string_view value) {
  text += fmt::format("{:>11}: {}\n", name, value);
}

double allocations_per_call(const Measurement& measurement) {
  return static_cast<double>(measurement.allocations->count) /
         static_cast<double>(std::max<std::uint64_t>(measurement.allocation_calls, 1));
}
double allocated_bytes_per_call(const Measurement& measurement) {
  return static_cast<double>(measurement.allocations->bytes) /
         static_cast<double>(std::max<std::uint64_t>(measurement.allocation_calls, 1));
}

void append_counters(std::string& text, const CounterValues& counters) {
  std::string values;
  const auto append = [&](const std::optional<double>& value, const char* name) {
    if (value) values += fmt::format("{}{:.2f} {}", values.empty() ? "" : ", ", *value, name);
  };
  append(counters.instructions, "instructions");
  append(counters.cycles, "cycles");
  append(counters.cache_misses, "cache misses");
  if (!values.empty()) append_line(text, "per call", values);
}

Json json_of(const metrics::Histogram& latency) {
  Json json;
  for (const auto& [name, percent] : percentiles) json[name] = latency.percentile(percent);
  json["max"] = latency.max();
  json["mean"] = latency.mean();
  return json;
}

Json json_of(const TestResult& test) {
  const Measurement& measured = test.measurement;
  Json json = {{"name", test.name},
               {"calls", measured.calls},
               {"seconds", static_cast<double>(measured.time.count()) / 1e9},
               {"hz", measured.hz()},
               {"threads", test.settings.threads}};
  if (test.settings.fibers > 0) json["fibers_per_thread"] = test.settings.fibers;
  if (test.settings.hz > 0) json["hz_wanted"] = test.settings.hz;
  if (measured.aborted) json["aborted"] = true;
  if (!measured.ns_per_call.empty()) {
    const auto [least, greatest] = std::ranges::minmax(measured.ns_per_call);
    json["ns_per_call"] = {{"median", median(measured.ns_per_call)},
                           {"least", least},
                           {"greatest", greatest},
                           {"repetitions", measured.ns_per_call}};
  }
  if (test.settings.items_per_call > 0) {
    json["items_per_second"] = measured.hz() * test.settings.items_per_call;
  }
  if (test.settings.bytes_per_call > 0) {
    json["bytes_per_second"] = measured.hz() * test.settings.bytes_per_call;
  }
  if (measured.latency_ns) json["latency_ns"] = json_of(*measured.latency_ns);
  if (measured.allocations) {
    json["allocations_per_call"] = allocations_per_call(measured);
    json["allocated_bytes_per_call"] = allocated_bytes_per_call(measured);
  }
  const CounterValues& counters = measured.counters_per_call;
  for (const auto& [name, value] : {std::pair{"instructions", counters.instructions},
                                    {"cycles", counters.cycles},
                                    {"cache_misses", counters.cache_misses}}) {
    if (value) json["counters_per_call"][name] = *value;
  }
  if (!measured.counters_unavailable.empty()) {
    json["counters_unavailable"] = measured.counters_unavailable;
  }
  if (test.beside) {
    json["beside"] = {{"name", test.beside->name},
                      {"ratio", median(test.beside->ratios)},
                      {"rounds", test.beside->ratios}};
  }
  return json;
}

// None unless it is an array of numbers above 0, neither empty nor too long.
std::optional<std::vector<double>> numbers_in(const Json& json) {
  if (!json.is_array() || json.empty() || json.size() > repetitions_max) return {};
  std::vector<double> numbers;
  for (const Json& number : json) {
    if (!number.is_number() || !(number.get<double>() > 0)) return {};
    numbers.push_back(number.get<double>());
  }
  return numbers;
}

const std::string* text_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found == json.end() ? nullptr : found->get_ptr<const std::string*>();
}

std::optional<Beside> beside_in(const Json& json) {
  const std::string* const name = json.is_object() ? text_in(json, "name") : nullptr;
  if (name == nullptr || !json.contains("rounds")) return {};
  auto ratios = numbers_in(json["rounds"]);
  if (!ratios) return {};
  return Beside{*name, *std::move(ratios)};
}

// None when it is not what to_json() writes. A test that was ended before its first call has no
// times.
std::optional<Recorded> recorded_in(const Json& json) {
  if (!json.is_object() || !json.contains("machine") || !json.contains("tests")) return {};
  const std::string* const format = text_in(json, "format");
  const std::string* const machine_class =
      json["machine"].is_object() ? text_in(json["machine"], "class") : nullptr;
  if (format == nullptr || *format != format_name || machine_class == nullptr) return {};
  Recorded recorded{.machine_class = *machine_class, .tests = {}};
  if (!json["tests"].is_array()) return {};
  for (const Json& test : json["tests"]) {
    const std::string* const name = test.is_object() ? text_in(test, "name") : nullptr;
    if (name == nullptr) return {};
    if (!test.contains("ns_per_call")) continue;
    const Json& times = test["ns_per_call"];
    if (!times.is_object() || !times.contains("repetitions")) return {};
    auto repetitions = numbers_in(times["repetitions"]);
    if (!repetitions) return {};
    Recorded::Test& added =
        recorded.tests.emplace_back(Recorded::Test{*name, *std::move(repetitions), {}});
    if (!test.contains("beside")) continue;
    added.beside = beside_in(test["beside"]);
    if (!added.beside) return {};
  }
  return recorded;
}

}  // namespace

std::string readable(double nanoseconds) {
  constexpr const char* units[] = {"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  while (nanoseconds >= 1000 && unit + 1 < std::size(units)) {
    nanoseconds /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", nanoseconds,
                     nanoseconds < 10    ? 2
                     : nanoseconds < 100 ? 1
                                         : 0,
                     units[unit]);
}

std::string with_commas(double number, int digits) {
  std::string text = fmt::format("{:.{}f}", number, digits);
  std::size_t at = text.find('.');
  if (at == std::string::npos) at = text.size();
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  while (at > first + 3) text.insert(at -= 3, ",");
  return text;
}

std::string describe(const Measurement& measurement, const Settings& settings) {
  std::string text;
  const double seconds = static_cast<double>(measurement.time.count()) / 1e9;
  append_line(text, "count", with_commas(static_cast<double>(measurement.calls), 0));
  append_line(text, "time", with_commas(seconds, 6) + " s");
  append_line(text, "HZ", with_commas(measurement.hz(), 6));
  const double period =
      measurement.calls == 0 ? 0 : seconds / static_cast<double>(measurement.calls);
  append_line(text, "1/HZ", fmt::format("{:.9f} s", period));
  if (measurement.ns_per_call.size() > 1) {
    const auto [least, greatest] = std::ranges::minmax(measurement.ns_per_call);
    append_line(text, "median",
                fmt::format("{} a call, {} to {} in {} repetitions",
                            readable(median(measurement.ns_per_call)), readable(least),
                            readable(greatest), measurement.ns_per_call.size()));
  }
  if (settings.threads > 1) append_line(text, "threads", fmt::format("{}", settings.threads));
  if (settings.fibers > 0) append_line(text, "fibers", fmt::format("{} each", settings.fibers));
  if (measurement.latency_ns) {
    std::string line;
    for (const auto& [name, percent] : percentiles) {
      line +=
          fmt::format("{} {}, ", name,
                      readable(static_cast<double>(measurement.latency_ns->percentile(percent))));
    }
    line += "max " + readable(static_cast<double>(measurement.latency_ns->max()));
    append_line(text, "latency", line);
  }
  if (settings.items_per_call > 0) {
    append_line(text, "items", per_second(measurement.hz() * settings.items_per_call, ""));
  }
  if (settings.bytes_per_call > 0) {
    append_line(text, "bytes", per_second(measurement.hz() * settings.bytes_per_call, "B"));
  }
  if (measurement.allocations) {
    append_line(text, "allocations",
                fmt::format("{:.2f} a call, {:.1f} bytes", allocations_per_call(measurement),
                            allocated_bytes_per_call(measurement)));
  }
  append_counters(text, measurement.counters_per_call);
  return text;
}

std::string to_json(const Report& report) {
  Json tests = Json::array();
  for (const TestResult& test : report.tests) tests.push_back(json_of(test));
  const Json json = {{"format", format_name},
                     {"machine",
                      {{"class", report.machine.machine_class()},
                       {"processor", report.machine.processor},
                       {"cores", report.machine.cores},
                       {"compiler", report.machine.compiler},
                       {"build", report.machine.build}}},
                     {"tests", std::move(tests)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Recorded> from_json(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  std::optional<Recorded> recorded = recorded_in(parsed);
  if (!recorded) return failure(Errc::malformed, "read a report of performance tests");
  return *std::move(recorded);
}

Result<Recorded> read_report(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return os_failure(errno, "open " + path);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  Result<Recorded> recorded = from_json(json);
  if (!recorded) return failure(Errc::malformed, "read " + path + " as a report");
  return recorded;
}

Result<> write_report(const Report& report, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  if (!file) return os_failure(errno, "open " + path);
  file << to_json(report) << std::flush;
  if (!file) return os_failure(errno, "write " + path);
  return {};
}

}  // namespace sennit::perftest
