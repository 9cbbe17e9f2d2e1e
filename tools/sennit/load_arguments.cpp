#include "tools/sennit/load_arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "sennit/load/units.hpp"

#include "tools/sennit/load_files.hpp"

namespace sennit::tools {
namespace {

constexpr const char* footer =
    "Without -R each connection asks again as soon as it is answered (a closed loop). With -R "
    "requests\n"
    "leave when they are due, whatever became of those before (an open loop): their response time "
    "counts\n"
    "from when they were due, the service time from when they were sent.\n"
    "\n"
    "Exit status: 0; 1 if there were errors, no answers, or a --fail-if held; 2 for a usage error; "
    "3 if the\n"
    "run is void because the generator itself was late or had no CPU left.\n"
    "\n"
    "Examples:\n"
    "  sennit load http://127.0.0.1:8080/status -c 100 -d 30s -t 2\n"
    "  sennit load http://127.0.0.1:8080/status -R 20k -c 100 --html report.html\n"
    "  sennit load 'http://127.0.0.1:8080/body/{body}' --sweep connections=1..256x4 "
    "body=16..65536x8\n"
    "  sennit load http://127.0.0.1:8080/status --slo 'p99<10ms' -d 5s\n"
    "  sennit load compare before.json after.json --html compare.html";

}  // namespace

Result<void> add_header(http::Headers& headers, const std::string& text) {
  const std::string_view whole = text;
  const std::size_t colon = std::min(whole.find(':'), whole.size() - 1);
  if (!whole.empty() && whole[colon] == ':' &&
      headers.add(whole.substr(0, colon), whole.substr(colon + 1))) {
    return {};
  }
  return failure(Errc::invalid_argument,
                 "understand the header '" + text + "' (write it as -H 'Name: value')");
}

void LoadArguments::add_to(CLI::App& load) {
  load.footer(footer);
  load.add_option("URL", url_, "http://host:port/path")->type_name("");
  add_requests_to(load);
  add_pace_to(load);
  add_results_to(load);
}

void LoadArguments::add_requests_to(CLI::App& load) {
  load.add_option("-H,--header", headers_, "to add to each request; may be given many times")
      ->type_name("'Name: value'")
      ->allow_extra_args(false);
  load.add_option("--method", method_, "request method [GET; POST with a body]")->type_name("NAME");
  load.add_option("--body", body_, "request body")->type_name("TEXT");
  load.add_option("--mix", mix_path_,
                  "requests to choose among: a JSON array of objects with weight, method, path, "
                  "headers and body, in which {seq} counts and {1..9} is a random number")
      ->type_name("FILE");
  load.add_option("--unix-socket", unix_socket_, "connect to this socket instead of the URL's host")
      ->type_name("PATH");
  load.add_option("--pipeline", pipeline_, "requests that may be unanswered on a connection")
      ->type_name("N")
      ->capture_default_str();
  load.add_option("--requests-per-connection", requests_per_connection_,
                  "after so many a connection is closed and another opened [never]")
      ->type_name("N");
  load.add_option("--beside", beside_url_,
                  "a second stream, driven at the same time, reported apart")
      ->type_name("URL");
  load.add_option("--beside-rate", beside_rate_, "its rate [a closed loop]")->type_name("N");
  load.add_option("--beside-connections", beside_connections_, "its connections")
      ->type_name("N")
      ->capture_default_str();
}

void LoadArguments::add_pace_to(CLI::App& load) {
  const auto add = [&load](const char* name, std::string& value, const char* type,
                           const char* help) {
    return load.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  add("-c,--connections", connections_, "N", "connections to keep open, such as 100 or 1k");
  add("-d,--duration", duration_, "TIME", "how long, such as 500ms, 30s, 2m or 1h");
  load.add_option("-t,--threads", threads_, "threads to divide them among [2; 1 for 1 connection]")
      ->type_name("N");
  add("--timeout", timeout_, "TIME", "of a connect, and of a request with its response");
  auto* const rate =
      load.add_option("-R,--rate", rate_, "an open loop with so many requests a second");
  rate->type_name("N");
  load.add_option("--profile", profile_,
                  "an open loop whose rate changes: FROM..TO:TIME for a ramp, RATE:TIME for a "
                  "plateau, several with commas; the last rate goes on")
      ->type_name("RATES")
      ->excludes(rate);
  load.add_option("--warm-up", warm_up_, "driven before the run, but not measured [none]")
      ->type_name("TIME");
  add("--lag-max", lag_max_, "TIME", "a run is void if 1 % of its requests leave later than this");
  add("--backend", backend_, "NAME", "how to talk to the kernel: auto, uring or epoll");
  load.add_option("--seed", seed_, "of random choices in a mix")
      ->type_name("N")
      ->capture_default_str();
  load.add_flag("--pin", pin_, "pin each thread to a CPU of its own");
}

void LoadArguments::add_results_to(CLI::App& load) {
  load.add_flag("--latency", latency_, "print the latency distribution");
  load.add_option("--json", outputs_.json,
                  "write everything measured to this file, for compare "
                  "and merge")
      ->type_name("FILE");
  load.add_option("--html", outputs_.html, "write a page with charts to this file")
      ->type_name("FILE");
  load.add_option("--hgrm", outputs_.hgrm, "write the percentiles for HdrHistogram's plotter")
      ->type_name("FILE");
  load.add_option("--fail-if", fail_if_,
                  "end with status 1 if this holds, such as 'p99>5ms'; may be given many times")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
  load.add_option("--sweep", sweep_,
                  "a run for each combination of values: NAME=1..2048x2 or NAME=1,8,64. "
                  "connections, threads, rate, pipeline and body are known; other names (and "
                  "body) stand in the URL as {NAME}")
      ->type_name("NAME=VALUES...");
  load.add_option("--slo", slo_, "search for the highest rate at which this holds: 'p99<10ms'")
      ->type_name("CONDITION");
}

Result<void> LoadArguments::set_pace(load::Options& options) const {
  if (!rate_.empty()) {
    SENNIT_TRY(const std::uint32_t rate, load::parse_count(rate_));
    if (rate > load::Schedule::rate_max) {
      return failure(Errc::invalid_argument, "send more than 100M requests a second");
    }
    const auto constant = static_cast<double>(rate);
    options.rate = {{options.duration, constant, constant}};
  }
  if (!profile_.empty()) {
    SENNIT_TRY(options.rate, load::parse_segments(profile_));
  }
  if (!warm_up_.empty()) {
    SENNIT_TRY(options.warm_up, load::parse_duration(warm_up_));
  }
  SENNIT_TRY(options.lag_max, load::parse_duration(lag_max_));
  SENNIT_TRY(options.pipeline, load::parse_count(pipeline_));
  if (!requests_per_connection_.empty()) {
    SENNIT_TRY(options.requests_per_connection, load::parse_count(requests_per_connection_));
  }
  return {};
}

Result<void> LoadArguments::set_requests(load::Options& options) const {
  for (const std::string& header : headers_) {
    if (auto added = add_header(options.headers, header); !added) {
      return failure(std::move(added).error());
    }
  }
  options.body = body_;
  options.method = !method_.empty() ? method_ : (body_.empty() ? "GET" : "POST");
  options.unix_socket = unix_socket_;
  if (!mix_path_.empty()) {
    SENNIT_TRY(const std::string text, read_file(mix_path_));
    SENNIT_TRY(options.mix, load::parse_mix(text));
  }
  return {};
}

Result<void> LoadArguments::add_beside(load::Options& options) const {
  SENNIT_TRY(load::Url url, load::Url::parse(beside_url_));
  load::Options beside(std::move(url));
  beside.timeout = options.timeout;
  beside.lag_max = options.lag_max;
  SENNIT_TRY(beside.connections, load::parse_count(beside_connections_));
  if (!beside_rate_.empty()) {
    SENNIT_TRY(const std::uint32_t rate, load::parse_count(beside_rate_));
    const auto constant = static_cast<double>(rate);
    beside.rate = {{options.duration, constant, constant}};
  }
  options.beside.push_back(std::move(beside));
  return {};
}

Result<load::Options> LoadArguments::options() const {
  if (url_.empty()) return failure(Errc::invalid_argument, "start (the URL is missing)");
  SENNIT_TRY(const std::vector<load::Axis> swept, axes());
  SENNIT_TRY(const std::vector<load::SweepPoint> points, load::sweep_points(swept));
  const std::string first_url = load::fill_url(url_, swept, points.front());
  SENNIT_TRY(load::Url url, load::Url::parse(first_url));
  load::Options options(std::move(url));
  SENNIT_TRY(options.connections, load::parse_count(connections_));
  SENNIT_TRY(options.workers,
             threads_.empty() ? std::min(options.connections, 2U) : load::parse_count(threads_));
  SENNIT_TRY(options.duration, load::parse_duration(duration_));
  SENNIT_TRY(options.timeout, load::parse_duration(timeout_));
  SENNIT_TRY(options.backend, runtime::io::backend_kind_from_name(backend_));
  options.pin = pin_;
  options.seed = seed_;
  if (auto set = set_pace(options); !set) return failure(std::move(set).error());
  if (auto set = set_requests(options); !set) return failure(std::move(set).error());
  if (!beside_url_.empty()) {
    if (auto added = add_beside(options); !added) return failure(std::move(added).error());
  }
  return options;
}

Result<std::vector<load::Axis>> LoadArguments::axes() const {
  std::vector<load::Axis> axes;
  for (const std::string& text : sweep_) {
    SENNIT_TRY(load::Axis axis, load::parse_axis(text));
    axes.push_back(std::move(axis));
  }
  return axes;
}

Result<std::vector<load::Condition>> LoadArguments::fail_conditions() const {
  std::vector<load::Condition> conditions;
  for (const std::string& text : fail_if_) {
    SENNIT_TRY(load::Condition condition, load::Condition::parse(text));
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

}  // namespace sennit::tools
