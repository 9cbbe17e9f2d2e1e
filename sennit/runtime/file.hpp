#pragma once
// File: reading and writing files without holding up the worker.
//
//   Result<File> file = wait(File::open("/var/lib/state", FileMode::read_write));
//   Result<std::size_t> bytes = wait(file->read(room, offset));   // 0: the end
//   Result<std::size_t> all = wait(file->write(text, offset));    // all of it, or an error
//   Result<void> safe = wait(file->sync());                       // on the disk
//
// Several calls on one file may be under way at once; order them by waiting. Cancelling ends a call
// that has not begun; one that has is waited for.
//
// Thread safety: none; a File belongs to the worker it was opened on, and must outlive its calls.
// Destroying it closes it, which does not sync.
//
// Errors: cancelled; not_found, already_exists, permission_denied, ... as the kernel says; `system`
// with EIO, ENOSPC and the like. A failed write may have written a part.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sennit/base/result.hpp"
#include "sennit/runtime/io/backend.hpp"
#include "sennit/runtime/waiter.hpp"

namespace sennit::runtime {

enum class FileMode : unsigned char {
  read,        // Must exist.
  read_write,  // Created if it does not exist.
  create,      // To write; must not exist.
  replace,     // To write; emptied if it exists.
};

class File {
 public:
  class Open;
  class Read;
  class Write;
  class Sync;

  /// Awaitable, Result<File>. Files that are created may be read and written by their owner.
  [[nodiscard]] static Open open(std::string path, FileMode mode);
  /// Awaitable, Result<std::size_t>: at least one byte into `room`, which must stay where it is, or
  /// 0 at the end of the file. Requires room.
  [[nodiscard]] Read read(std::span<char> room, std::uint64_t offset) const;
  /// Awaitable, Result<std::size_t>: all of `bytes`, which must stay where they are.
  [[nodiscard]] Write write(std::string_view bytes, std::uint64_t offset) const;
  /// Awaitable, Result<void>.
  [[nodiscard]] Sync sync() const;

  File(File&& other) noexcept
      : backend_(std::exchange(other.backend_, nullptr)), descriptor_(other.descriptor_) {}
  File& operator=(File&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~File() {
    if (backend_ != nullptr) backend_->close_file(descriptor_);
  }

 private:
  File(io::Backend& backend, int descriptor) : backend_(&backend), descriptor_(descriptor) {}
  io::Backend* backend_;  // Null once moved from.
  int descriptor_;
};

namespace detail {

/// What the calls on files have in common.
class FileCall : protected io::FileOperation {
 public:
  explicit FileCall(Call wanted) : FileOperation(&FileCall::completed) { call = wanted; }
  bool ready() { return false; }
  bool start(Waiter& waiter);
  void cancel();

 protected:
  [[nodiscard]] int outcome() const { return outcome_; }
  [[nodiscard]] std::size_t written() const { return written_; }
  io::Backend* backend_ = nullptr;  // Once started.

 private:
  static void completed(io::Operation& operation, const io::Completion& completion);
  Waiter* waiter_ = nullptr;
  int outcome_ = 0;
  std::size_t written_ = 0;
  bool is_cancelled_ = false;
};

}  // namespace detail

class File::Open : public detail::FileCall {
 public:
  static constexpr const char* waits_for = "a file to open";
  Open(std::string path, FileMode mode);
  Open(Open&& other) noexcept : Open(std::move(other.path_), other.mode_) {}  // Before start().
  Result<File> take();

 private:
  std::string path_;
  FileMode mode_;
};

class File::Read : public detail::FileCall {
 public:
  static constexpr const char* waits_for = "bytes of a file";
  Read(int from, std::span<char> into, std::uint64_t at);
  Read(Read&& other) noexcept : Read(other.descriptor, other.room, other.offset) {}
  Result<std::size_t> take();
};

class File::Write : public detail::FileCall {
 public:
  static constexpr const char* waits_for = "a file to take bytes";
  Write(int to, std::string_view bytes, std::uint64_t at);
  Write(Write&& other) noexcept : Write(other.descriptor, other.data, other.offset) {}
  Result<std::size_t> take();
};

class File::Sync : public detail::FileCall {
 public:
  static constexpr const char* waits_for = "a disk";
  explicit Sync(int of);
  Sync(Sync&& other) noexcept : Sync(other.descriptor) {}
  Result<void> take();
};

}  // namespace sennit::runtime

namespace sennit {
using runtime::File;
using runtime::FileMode;
}  // namespace sennit
