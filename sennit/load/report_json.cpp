#include "sennit/load/report_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sennit/metrics/histogram_log.hpp"

namespace sennit::load {
namespace {

using json = nlohmann::ordered_json;
using metrics::Histogram;

struct Percentile {
  const char* name;
  double percent;
};
constexpr Percentile percentiles[] = {{"p50", 50},     {"p75", 75},       {"p90", 90}, {"p99", 99},
                                      {"p99.9", 99.9}, {"p99.99", 99.99}, {"max", 100}};
constexpr std::size_t intervals_max = 1'000'000;
constexpr std::size_t streams_max = 16;

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }
double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

json to_object(const Histogram& histogram, Duration duration) {
  json object;
  for (const auto& [name, percent] : percentiles) {
    object[name] = microseconds(histogram.percentile(percent));
  }
  object["mean"] = histogram.mean() / 1e3;
  object["stdev"] = histogram.stddev() / 1e3;
  std::string line = metrics::log_line({0, seconds(duration)}, histogram);
  line.pop_back();
  object["histogram"] = line;
  return object;
}

json to_object(const MachineContext& machine) {
  return {{"host", machine.host},
          {"processor", machine.processor},
          {"kernel", machine.kernel},
          {"cpus", machine.cpus},
          {"open_files", machine.open_files},
          {"load_average", machine.load_average},
          {"time", machine.time}};
}

json to_object(const Report& report) {
  json errors;
  for (std::size_t i = 0; i < error_kind_count; ++i) {
    const auto kind = static_cast<ErrorKind>(i);
    errors[std::string(to_string(kind))] = report.errors[kind];
  }
  json rates = to_object(report.rates, report.duration);
  json intervals = json::array();
  for (const Report::Interval& interval : report.intervals) {
    json counts = json::array();
    for (const auto& [index, count] : interval.counts)
      counts.push_back(json::array({index, count}));
    intervals.push_back({{"errors", interval.errors}, {"counts", std::move(counts)}});
  }
  json beside = json::array();
  for (const Report& other : report.beside) beside.push_back(to_object(other));
  json object = {
      {"url", report.url},
      {"backend", report.backend},
      {"connections", report.connections},
      {"threads", report.workers},
      {"pipeline", report.pipeline},
      {"rate", report.rate},
      {"duration_s", seconds(report.duration)},
      {"requests", report.requests},
      {"requests_per_s", report.requests_per_second()},
      {"unsent", report.unsent},
      {"bytes_read", report.bytes_read},
      {"bytes_per_s", report.bytes_per_second()},
      {"cpu_busy", report.cpu_busy},
      {"cpu_s", seconds(report.cpu_time)},
      {"is_void", report.is_void()},
      {"void_reasons", report.void_reasons},
      {"latency_us", to_object(report.service_ns, report.duration)},
      {"errors", errors},
      {"first_error", report.first_error},
      {"worker_rates", rates["histogram"]},
      {"intervals", intervals},
      {"machine", to_object(report.machine)},
      {"beside", beside},
  };
  if (report.is_open_loop()) {
    object["response_us"] = to_object(report.response_ns, report.duration);
    object["lag_us"] = to_object(report.lag_ns, report.duration);
  }
  return object;
}

/// Reads fields of an object and remembers the first that was not what it should be.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {}

  template <class T>
  T get(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) return fail<T>(key);
    if constexpr (std::is_same_v<T, std::string>) {
      if (!found->is_string()) return fail<T>(key);
    } else if constexpr (std::is_same_v<T, double>) {
      if (!found->is_number() || !std::isfinite(found->template get<double>())) return fail<T>(key);
    } else {
      if (!found->is_number_unsigned() ||
          found->template get<std::uint64_t>() > std::numeric_limits<T>::max()) {
        return fail<T>(key);
      }
    }
    return found->template get<T>();
  }

  double amount(const char* key) {
    constexpr double most = 1e9;
    const double value = get<double>(key);
    return value >= 0 && value <= most ? value : fail<double>(key);
  }
  /// Short enough that the sum of hundreds does not overflow.
  Duration duration(const char* key) {
    constexpr double longest_s = 1e7;
    const double value = amount(key);
    if (value > longest_s) return fail<Duration>(key);
    return Duration(static_cast<std::int64_t>(value * 1e9));
  }

  void histogram(const char* key, Histogram& into) {
    const std::string line = get<std::string>(key);
    if (!wrong_.empty()) return;
    const auto entry = metrics::parse_log_line(line);
    if (!entry || entry->histogram.options() != into.options()) return void(fail<int>(key));
    into.merge(entry->histogram);
  }

  /// The object of that name, or an empty one.
  const json& object(const char* key) {
    static const json empty = json::object();
    const auto found = object_.find(key);
    if (found != object_.end() && found->is_object()) return *found;
    fail<int>(key);
    return empty;
  }
  const json& array(const char* key, std::size_t size_max) {
    static const json empty = json::array();
    const auto found = object_.find(key);
    if (found != object_.end() && found->is_array() && found->size() <= size_max) return *found;
    fail<int>(key);
    return empty;
  }

  template <class T>
  T fail(const char* key) {
    if (wrong_.empty()) wrong_ = key;
    return T{};
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  void also(const Reader& other) {
    if (wrong_.empty()) wrong_ = other.wrong_;
  }

 private:
  const json& object_;
  std::string wrong_;
};

void read_latencies(Reader& reader, const char* key, Histogram& into) {
  Reader inner(reader.object(key));
  inner.histogram("histogram", into);
  reader.also(inner);
}

void read_errors(Reader& reader, ErrorCounts& errors) {
  Reader inner(reader.object("errors"));
  for (std::size_t i = 0; i < error_kind_count; ++i) {
    const auto kind = static_cast<ErrorKind>(i);
    errors.add(kind, inner.get<std::uint64_t>(std::string(to_string(kind)).c_str()));
  }
  reader.also(inner);
}

void read_intervals(Reader& reader, std::vector<Report::Interval>& intervals) {
  const std::size_t bucket_count = Histogram(Report::interval_options).layout().bucket_count();
  for (const json& object : reader.array("intervals", intervals_max)) {
    if (!object.is_object()) return void(reader.fail<int>("intervals"));
    Reader inner(object);
    Report::Interval interval;
    interval.errors = inner.get<std::uint64_t>("errors");
    for (const json& pair : inner.array("counts", bucket_count)) {
      const bool is_pair = pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
                           pair[1].is_number_unsigned() &&
                           pair[0].get<std::uint64_t>() < bucket_count;
      if (!is_pair) return void(reader.fail<int>("counts"));
      interval.counts.emplace_back(pair[0].get<std::uint32_t>(), pair[1].get<std::uint64_t>());
    }
    reader.also(inner);
    intervals.push_back(std::move(interval));
  }
}

MachineContext read_machine(Reader& reader) {
  Reader inner(reader.object("machine"));
  MachineContext machine;
  machine.host = inner.get<std::string>("host");
  machine.processor = inner.get<std::string>("processor");
  machine.kernel = inner.get<std::string>("kernel");
  machine.cpus = inner.get<unsigned>("cpus");
  machine.open_files = inner.get<std::uint64_t>("open_files");
  machine.load_average = inner.amount("load_average");
  machine.time = inner.get<std::string>("time");
  reader.also(inner);
  return machine;
}

Report read_report(Reader& reader, bool is_beside) {
  Report report;
  report.url = reader.get<std::string>("url");
  report.backend = reader.get<std::string>("backend");
  report.connections = reader.get<std::uint32_t>("connections");
  report.workers = reader.get<unsigned>("threads");
  report.pipeline = reader.get<std::uint32_t>("pipeline");
  report.rate = reader.amount("rate");
  report.duration = reader.duration("duration_s");
  report.requests = reader.get<std::uint64_t>("requests");
  report.unsent = reader.get<std::uint64_t>("unsent");
  report.bytes_read = reader.get<std::uint64_t>("bytes_read");
  report.cpu_busy = reader.amount("cpu_busy");
  report.cpu_time = reader.duration("cpu_s");
  report.first_error = reader.get<std::string>("first_error");
  for (const json& reason : reader.array("void_reasons", streams_max)) {
    if (!reason.is_string()) reader.fail<int>("void_reasons");
    if (reason.is_string()) report.void_reasons.push_back(reason.get<std::string>());
  }
  read_errors(reader, report.errors);
  read_latencies(reader, "latency_us", report.service_ns);
  if (report.is_open_loop()) {
    read_latencies(reader, "response_us", report.response_ns);
    read_latencies(reader, "lag_us", report.lag_ns);
  }
  reader.histogram("worker_rates", report.rates);
  read_intervals(reader, report.intervals);
  report.machine = read_machine(reader);
  for (const json& other : reader.array("beside", is_beside ? 0 : streams_max)) {
    if (!other.is_object()) return reader.fail<int>("beside"), report;
    Reader inner(other);
    report.beside.push_back(read_report(inner, true));
    reader.also(inner);
  }
  return report;
}

}  // namespace

std::string to_json(const Report& report) {
  constexpr int indent = 2;
  return to_object(report).dump(indent, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Report> report_from_json(std::string_view text) {
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object())
    return failure(Errc::malformed, "read a report (it is no JSON object)");
  Reader reader(document);
  Report report = read_report(reader, false);
  if (!reader.wrong().empty()) {
    return failure(Errc::malformed,
                   "read a report of sennit load ('" + reader.wrong() + "' is missing or wrong)");
  }
  return report;
}

}  // namespace sennit::load
