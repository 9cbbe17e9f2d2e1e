// sennit: the command-line tool. Each subcommand is a file here, beside its test.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "sennit/base/log.hpp"

#include "tools/sennit/load_command.hpp"

int main(int argc, char** argv) {
  using namespace sennit;
  if (std::getenv("SENNIT_LOG") == nullptr) log::set_level(log::Level::warning);

  CLI::App app("Tools of the sennit toolkit for backend services.", "sennit");
  app.require_subcommand(1);
  app.set_help_flag("-h,--help", "print this help and exit");
  tools::LoadCommand load(app);
  const CLI::App* const version = app.add_subcommand("version", "print the version and exit");

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
  return load.run();
}
