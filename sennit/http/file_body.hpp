#pragma once
// FileBody: a response's body that is read from a file while it is sent, in pieces: the whole file,
// ranges of it, with text between them where ranges are several (multipart/byteranges).
//
// Reading is plain pread: what the page cache does not hold blocks the worker while the disk seeks.
// A file that has become shorter than was announced is an error, and the connection is ended so
// that the client can tell.
//
// Thread safety: none; sent once.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sennit/base/result.hpp"

namespace sennit::http {

class FileBody {
 public:
  /// Takes ownership of a descriptor that can be read at any offset.
  explicit FileBody(int descriptor) : descriptor_(descriptor) {}
  ~FileBody();
  FileBody(const FileBody&) = delete;
  FileBody& operator=(const FileBody&) = delete;

  void add_text(std::string text);
  void add_range(std::uint64_t offset, std::uint64_t bytes);

  /// Of everything added.
  [[nodiscard]] std::uint64_t length() const { return length_; }

  /// Fills `room` from where the last call stopped, and says how much of it; 0 at the end.
  /// Errors: what the read says; closed when the file ended early.
  [[nodiscard]] Result<std::size_t> read(std::span<char> room);

 private:
  struct Part {
    std::string text;  // Or else a range of the file.
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  int descriptor_;
  std::vector<Part> parts_;
  std::uint64_t length_ = 0;
  std::size_t part_ = 0;    // The one being read,
  std::uint64_t done_ = 0;  // and how much of it is.
};

}  // namespace sennit::http
