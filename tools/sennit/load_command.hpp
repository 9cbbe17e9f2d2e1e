#pragma once
// `sennit load URL`: drives an HTTP server and reports what it measured.

#include <string>
#include <vector>

#include "sennit/base/result.hpp"
#include "sennit/load/options.hpp"

namespace CLI {
class App;
}

namespace sennit::tools {

inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;  // Errors were counted, nothing was answered, or no report.
inline constexpr int exit_usage = 2;

class LoadCommand {
 public:
  /// Adds the subcommand to `app`, which fills this object when it parses.
  explicit LoadCommand(CLI::App& app);
  LoadCommand(const LoadCommand&) = delete;
  LoadCommand& operator=(const LoadCommand&) = delete;

  /// Runs it and returns what main() should.
  [[nodiscard]] int run() const;

 private:
  [[nodiscard]] Result<load::Options> options() const;
  [[nodiscard]] int measure(const load::Options& options) const;

  std::string url_;
  std::string connections_ = "10";
  std::string duration_ = "10s";
  std::string threads_;
  std::string timeout_ = "2s";
  std::vector<std::string> headers_;
  std::string method_;
  std::string body_;
  std::string json_path_;
  std::string backend_ = "auto";
  bool pin_ = false;
};

}  // namespace sennit::tools
