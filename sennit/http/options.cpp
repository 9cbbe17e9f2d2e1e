#include "sennit/http/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

namespace sennit::http {
namespace {

// A count: never negative, so that -1 is an error and not the largest number there is.
template <class T>
void add_count(CLI::App& app, const char* name, T& target, const char* help) {
  app.add_option_function<std::int64_t>(
         name, [&target](std::int64_t count) { target = static_cast<T>(count); }, help)
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->default_str(std::to_string(target));
}

// Milliseconds, 0 meaning `of_zero`.
void add_time(CLI::App& app, const char* name, Duration& target, const char* help,
              Duration of_zero = Duration::zero()) {
  const bool is_none = target == Duration::max();
  const auto given = std::chrono::duration_cast<std::chrono::milliseconds>(target).count();
  app.add_option_function<std::int64_t>(
         name,
         [&target, of_zero](std::int64_t ms) {
           target = ms == 0 ? of_zero : Duration(std::chrono::milliseconds(ms));
         },
         help)
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}))
      ->default_str(is_none ? "0" : std::to_string(given));
}

void add_limits(CLI::App& app, ServerOptions& options) {
  add_count(app, "--max-connections", options.connections_max,
            "0 is four fifths of the file limit");
  add_count(app, "--max-in-flight", options.in_flight_max,
            "requests being handled; more are answered 503");
  add_count(app, "--max-body-bytes", options.body_bytes_max,
            "largest request body held in memory; larger ones are answered 413");
  add_count(app, "--max-stream-bytes", options.stream_bytes_max,
            "largest request body read as a stream");
  add_count(app, "--max-uri-bytes", options.head_limits.uri_bytes_max, "longer ones: 414");
  add_count(app, "--max-header-bytes", options.head_limits.header_bytes_max,
            "all header fields together; more: 431");
  add_count(app, "--max-header-count", options.head_limits.header_count_max,
            "header fields, at most 100; more: 431");
  add_count(app, "--max-output-bytes", options.output_bytes_max,
            "not yet taken by a client; then writers wait");
  add_count(app, "--min-body-rate", options.body_rate_min,
            "bytes a second of a request body; slower ones: 408");
}

void add_times(CLI::App& app, ServerOptions& options) {
  add_time(app, "--first-byte-timeout-ms", options.first_byte_timeout,
           "until a new connection says something");
  add_time(app, "--header-timeout-ms", options.head_timeout, "for a whole head; longer: 408");
  add_time(app, "--body-timeout-ms", options.body_timeout,
           "without progress of a request body; longer: 408");
  add_time(app, "--write-timeout-ms", options.write_timeout,
           "without progress of an answer; longer: closed");
  add_time(app, "--idle-timeout-ms", options.idle_timeout, "between requests");
  add_time(app, "--handler-timeout-ms", options.handler_timeout,
           "then the handler is cancelled and answered 503; 0 is never", Duration::max());
  add_time(app, "--max-connection-age-ms", options.connection_age_max,
           "then the next answer is the last; 0 is never", Duration::max());
  add_time(app, "--max-queue-delay-ms", options.queue_delay_max,
           "above it requests are shed with 503; 0 is never");
  add_time(app, "--drain-timeout-ms", options.drain_timeout, "for requests to end at a stop");
  add_time(app, "--unready-delay-ms", options.unready_delay,
           "from a stop, at which the readiness endpoint says no, until draining begins");
}

}  // namespace

ServerOptions::ServerOptions(int argc, char** argv, const std::vector<Flag>& own_flags) {
  CLI::App app("An HTTP server on sennit.",
               argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "server");
  app.add_option("--host", host, "address to listen on, or unix:/path")->capture_default_str();
  app.add_option("--port", port, "port to listen on; 0 lets the kernel choose")
      ->capture_default_str();
  app.add_option("--workers", workers, "worker threads; 0 is one for each CPU")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  std::string backend_name = "auto";
  app.add_option("--backend", backend_name, "how to talk to the kernel")
      ->check(CLI::IsMember({"auto", "uring", "epoll"}))
      ->capture_default_str();
  app.add_flag("--pin", pin, "pin each worker to a CPU of its own");
  add_limits(app, *this);
  add_times(app, *this);
  app.add_flag("!--keep-disconnected", cancel_on_disconnect,
               "do not cancel the handler of a client that is gone");
  for (const Flag& flag : own_flags) {
    app.add_option(flag.name(), *flag.target(), flag.help())->capture_default_str();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_help = app.exit(error) == 0;  // Prints the help, or what is wrong and a hint.
    std::exit(is_help ? 0 : 2);
  }
  backend = *runtime::io::backend_kind_from_name(backend_name);
}

}  // namespace sennit::http
