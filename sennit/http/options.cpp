#include "sennit/http/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>

namespace sennit::http {

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
  app.add_option("--max-connections", connections_max, "0 is four fifths of the file limit")
      ->capture_default_str();
  app.add_option("--max-body-bytes", body_bytes_max, "largest request body held in memory")
      ->capture_default_str();
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
