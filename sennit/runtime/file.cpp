#include "sennit/runtime/file.hpp"

#include <cerrno>
#include <fcntl.h>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/worker.hpp"

namespace sennit::runtime {
namespace detail {

bool FileCall::start(Waiter& waiter) {
  waiter_ = &waiter;
  backend_ = &waiter.worker().backend();
  backend_->file(*this);
  return true;
}

void FileCall::cancel() {
  is_cancelled_ = true;
  backend_->cancel(*this);
}

// The kernel may write less than all; what is left follows, unless that was cancelled.
void FileCall::completed(io::Operation& operation, const io::Completion& completion) {
  auto& self = static_cast<FileCall&>(operation);
  self.outcome_ = completion.result;
  if (self.call == Call::write && completion.result > 0) {
    const auto bytes = static_cast<std::size_t>(completion.result);
    self.written_ += bytes;
    self.offset += bytes;
    self.data.remove_prefix(bytes);
    if (!self.data.empty() && !self.is_cancelled_) return self.backend_->file(self);
    if (!self.data.empty()) self.outcome_ = -ECANCELED;
  }
  self.waiter_->wake();
}

}  // namespace detail

namespace {

int flags_of(FileMode mode) {
  switch (mode) {
    case FileMode::read:
      return O_RDONLY;
    case FileMode::read_write:
      return O_RDWR | O_CREAT;
    case FileMode::create:
      return O_RDWR | O_CREAT | O_EXCL;
    case FileMode::replace:
      return O_RDWR | O_CREAT | O_TRUNC;
  }
  SENNIT_ASSERT(false);
}

}  // namespace

File::Open::Open(std::string opened_path, FileMode wanted)
    : FileCall(Call::open), path_(std::move(opened_path)), mode_(wanted) {
  path = path_.c_str();
  flags = flags_of(wanted);
  mode = 0600;
}

Result<File> File::Open::take() {
  if (outcome() < 0) return os_failure(-outcome(), "open " + path_);
  return File(*backend_, outcome());
}

File::Read::Read(int from, std::span<char> into, std::uint64_t at) : FileCall(Call::read) {
  SENNIT_ASSERT(!into.empty());
  descriptor = from;
  room = into;
  offset = at;
}

Result<std::size_t> File::Read::take() {
  if (outcome() < 0) return os_failure(-outcome(), "read a file");
  return static_cast<std::size_t>(outcome());
}

File::Write::Write(int to, std::string_view bytes, std::uint64_t at) : FileCall(Call::write) {
  descriptor = to;
  data = bytes;
  offset = at;
}

Result<std::size_t> File::Write::take() {
  if (outcome() < 0) return os_failure(-outcome(), "write a file");
  return written();
}

File::Sync::Sync(int of) : FileCall(Call::sync) { descriptor = of; }

Result<void> File::Sync::take() {
  if (outcome() < 0) return os_failure(-outcome(), "sync a file");
  return {};
}

File::Open File::open(std::string path, FileMode mode) { return {std::move(path), mode}; }
File::Read File::read(std::span<char> room, std::uint64_t offset) const {
  return {descriptor_, room, offset};
}
File::Write File::write(std::string_view bytes, std::uint64_t offset) const {
  return {descriptor_, bytes, offset};
}
File::Sync File::sync() const { return Sync(descriptor_); }

}  // namespace sennit::runtime
