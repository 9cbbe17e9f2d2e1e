#pragma once
// Files of `sennit load`: read whole, or opened before a run so that none is wasted.

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "sennit/base/result.hpp"

namespace sennit::tools {

/// Errors: what the system says; limit_reached for more than 1 GiB.
[[nodiscard]] Result<std::string> read_file(const std::string& path);

class OutputFile {
 public:
  /// An empty path: nothing is written. Errors: what the system says.
  [[nodiscard]] static Result<OutputFile> open(const std::string& path);
  [[nodiscard]] bool is_wanted() const { return file_ != nullptr; }
  /// Writes and closes. Errors: what the system says, also a disk that is full.
  [[nodiscard]] Result<void> write(std::string_view text);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace sennit::tools
