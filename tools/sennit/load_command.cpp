#include "tools/sennit/load_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <fmt/core.h>
#include <memory>

#include "sennit/load/generator.hpp"
#include "sennit/load/report.hpp"
#include "sennit/load/units.hpp"

#include "tools/sennit/load_progress.hpp"

namespace sennit::tools {
namespace {

constexpr const char* footer =
    "Each connection asks again as soon as it is answered (a closed loop). Latency is the time "
    "from\n"
    "handing the request to the kernel until the last byte of the response.\n"
    "\n"
    "Exit status: 0; 1 if there were errors or no answers at all; 2 for a usage error.\n"
    "\n"
    "Example: sennit load http://127.0.0.1:8080/status -c 100 -d 30s -t 2";

int complain(const Error& error, int status) {
  fmt::print(stderr, "sennit load: could not {}\n", error.to_string());
  return status;
}

Result<> add_header(http::Headers& headers, const std::string& text) {
  const std::string_view whole = text;
  const std::size_t colon = std::min(whole.find(':'), whole.size() - 1);
  if (!whole.empty() && whole[colon] == ':' &&
      headers.add(whole.substr(0, colon), whole.substr(colon + 1))) {
    return {};
  }
  return failure(Errc::invalid_argument,
                 "understand the header '" + text + "' (write it as -H 'Name: value')");
}

/// SIGINT and SIGTERM are taken by asking, which needs no handler; a second one ends the program.
class Signals {
 public:
  /// Before any thread is started, so that none of them is interrupted.
  Signals() {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGINT);
    ::sigaddset(&signals_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  /// True if one came within the time.
  bool wait_for(Duration time) {
    timespec limit{};
    limit.tv_sec = static_cast<time_t>(time.count() / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(time.count() % 1'000'000'000);
    if (::sigtimedwait(&signals_, nullptr, &limit) < 0) return false;
    ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    return true;
  }

 private:
  sigset_t signals_{};
};

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

Result<> write_file(File file, const std::string& path, const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  const int write_error = is_written ? 0 : errno;
  const bool is_closed = std::fclose(file.release()) == 0;
  if (is_written && is_closed) return {};
  return os_failure(is_written ? errno : write_error, "write " + path);
}

void watch(load::Generator& generator, Signals& signals) {
  LoadProgress shown;
  Duration until_shown = shown.interval();
  while (!generator.wait_for(Duration::zero())) {
    const load::Progress before = generator.progress();
    const Duration shortest = std::chrono::milliseconds(1);
    if (signals.wait_for(std::max(std::min(until_shown, before.left), shortest))) {
      generator.stop();
      break;
    }
    const load::Progress progress = generator.progress();
    until_shown -= progress.elapsed - before.elapsed;
    if (until_shown > Duration::zero() || progress.left == Duration::zero()) continue;
    shown.show(progress);
    until_shown = shown.interval();
  }
  shown.clear();
}

}  // namespace

LoadCommand::LoadCommand(CLI::App& app) {
  CLI::App& load = *app.add_subcommand("load", "Drive an HTTP/1.1 server and measure");
  load.footer(footer);
  const auto add = [&load](const char* name, std::string& value, const char* type,
                           const char* help) {
    return load.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  load.add_option("URL", url_, "http://host:port/path")->required()->type_name("");
  add("-c,--connections", connections_, "N", "connections to keep open, such as 100 or 1k");
  add("-d,--duration", duration_, "TIME", "how long, such as 500ms, 30s, 2m or 1h");
  load.add_option("-t,--threads", threads_, "threads to divide them among [2; 1 for 1 connection]")
      ->type_name("N");
  add("--timeout", timeout_, "TIME", "of a connect, and of a request with its response");
  load.add_option("-H,--header", headers_, "to add to each request; may be given many times")
      ->type_name("'Name: value'")
      ->allow_extra_args(false);
  load.add_option("--method", method_, "request method [GET; POST with a body]")->type_name("NAME");
  load.add_option("--body", body_, "request body")->type_name("TEXT");
  load.add_flag("--latency")
      ->description("print the latency distribution, as always; for wrk's scripts");
  load.add_option("--json", json_path_, "write the results to this file as well")
      ->type_name("FILE");
  add("--backend", backend_, "NAME", "how to talk to the kernel: auto, uring or epoll");
  load.add_flag("--pin", pin_, "pin each thread to a CPU of its own");
}

Result<load::Options> LoadCommand::options() const {
  SENNIT_TRY(load::Url url, load::Url::parse(url_));
  load::Options options(std::move(url));
  SENNIT_TRY(options.connections, load::parse_count(connections_));
  SENNIT_TRY(options.workers,
             threads_.empty() ? std::min(options.connections, 2U) : load::parse_count(threads_));
  SENNIT_TRY(options.duration, load::parse_duration(duration_));
  SENNIT_TRY(options.timeout, load::parse_duration(timeout_));
  SENNIT_TRY(options.backend, runtime::io::backend_kind_from_name(backend_));
  for (const std::string& header : headers_) {
    if (auto added = add_header(options.headers, header); !added) {
      return failure(std::move(added).error());
    }
  }
  options.body = body_;
  options.method = !method_.empty() ? method_ : (body_.empty() ? "GET" : "POST");
  options.pin = pin_;
  return options;
}

int LoadCommand::run() const {
  const Result<load::Options> wanted = options();
  if (!wanted) return complain(wanted.error(), exit_usage);
  return measure(*wanted);
}

int LoadCommand::measure(const load::Options& options) const {
  File json;
  if (!json_path_.empty()) {  // Opened first, so that no run is wasted.
    json.reset(std::fopen(json_path_.c_str(), "w"));
    if (json == nullptr) {
      return complain(Error::from_os(errno, "open " + json_path_), exit_failed);
    }
  }
  Signals signals;
  auto generator = load::Generator::start(options);
  if (!generator) {
    const bool is_usage = generator.error().code() == Errc::invalid_argument;
    return complain(generator.error(), is_usage ? exit_usage : exit_failed);
  }
  fmt::print("{}", load::heading_text(options.url.text(), options.duration, options.workers,
                                      options.connections));
  std::fflush(stdout);
  watch(**generator, signals);
  const load::Report report = (*generator)->finish();
  fmt::print("{}", load::to_text(report));
  if (std::fflush(stdout) != 0) {
    return complain(Error::from_os(errno, "write to standard output"), exit_failed);
  }
  if (!report.first_error.empty()) {
    fmt::print(stderr, "sennit load: the first error: {}\n", report.first_error);
  }
  if (json != nullptr) {
    const Result<> written = write_file(std::move(json), json_path_, load::to_json(report));
    if (!written) return complain(written.error(), exit_failed);
  }
  if (report.requests == 0) fmt::print(stderr, "sennit load: nothing was answered\n");
  return report.requests > 0 && report.errors.total() == 0 ? exit_ok : exit_failed;
}

}  // namespace sennit::tools
