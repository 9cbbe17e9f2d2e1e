// sennit: the command-line tool. Each subcommand is a file here, beside its test.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>

#include "sennit/base/log.hpp"

#include "tools/sennit/load_command.hpp"
#include "tools/sennit/shm_command.hpp"

int main(int argc, char** argv) {
  using namespace sennit;
  if (std::getenv("SENNIT_LOG") == nullptr) log::set_level(log::Level::warning);

  CLI::App app("Tools of the sennit toolkit for backend services.", "sennit");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "print this help and exit");
  tools::LoadCommand load(app);
  const tools::ShmCommand shared_memory(app);
  const CLI::App* const version = app.add_subcommand("version", "Print the version and exit");

  const auto is_named = [argv](const CLI::App* subcommand) {
    return subcommand->check_name(argv[1]);
  };
  if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_named).empty()) {
    fmt::print(stderr, "sennit: there is no subcommand '{}'; sennit --help lists them\n", argv[1]);
    return tools::exit_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_help = app.exit(error) == 0;  // Prints the help, or what is wrong and a hint.
    return is_help ? tools::exit_ok : tools::exit_usage;
  }
  if (version->parsed()) {
    std::puts("sennit " SENNIT_VERSION);
    return tools::exit_ok;
  }
  if (shared_memory.parsed()) return shared_memory.run();
  return load.run();
}
