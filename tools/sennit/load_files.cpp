#include "tools/sennit/load_files.hpp"

#include <cerrno>

namespace sennit::tools {

Result<std::string> read_file(const std::string& path) {
  constexpr std::size_t bytes_max = std::size_t{1} << 30;
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return os_failure(errno, "open " + path);
  std::string text;
  char piece[16 * 1024];
  std::size_t got = 0;
  while ((got = std::fread(piece, 1, sizeof piece, file)) > 0 && text.size() <= bytes_max) {
    text.append(piece, got);
  }
  const int problem = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  if (problem != 0) return os_failure(problem, "read " + path);
  if (text.size() > bytes_max) return failure(Errc::limit_reached, "read " + path);
  return text;
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  OutputFile output;
  if (path.empty()) return output;
  output.path_ = path;
  output.file_.reset(std::fopen(path.c_str(), "w"));
  if (output.file_ == nullptr) return os_failure(errno, "open " + path);
  return output;
}

Result<void> OutputFile::write(std::string_view text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  const int write_error = is_written ? 0 : errno;
  const bool is_closed = std::fclose(file_.release()) == 0;
  if (is_written && is_closed) return {};
  return os_failure(is_written ? errno : write_error, "write " + path_);
}

}  // namespace sennit::tools
