#pragma once
// `sennit shm`: looks into segments of shared memory, and removes them.

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace sennit::tools {

class ShmCommand {
 public:
  /// Adds the subcommand to `app`, which fills this object when it parses.
  explicit ShmCommand(CLI::App& app);
  ShmCommand(const ShmCommand&) = delete;
  ShmCommand& operator=(const ShmCommand&) = delete;

  /// Whether it is this subcommand that was given.
  [[nodiscard]] bool parsed() const;
  /// Runs it and returns what main() should.
  [[nodiscard]] int run() const;

 private:
  [[nodiscard]] int list() const;
  [[nodiscard]] int top() const;

  const CLI::App* command_;
  std::string place_;
  std::uint64_t number_ = 0;
  std::uint64_t rounds_ = 0;  // 0: until interrupted.
  unsigned interval_ms_ = 1000;
};

}  // namespace sennit::tools
