#include "sennit/http/file_body.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace sennit::http {

FileBody::~FileBody() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void FileBody::add_text(std::string text) {
  length_ += text.size();
  const auto bytes = std::uint64_t{text.size()};
  parts_.push_back({std::move(text), 0, bytes});
}

void FileBody::add_range(std::uint64_t offset, std::uint64_t bytes) {
  length_ += bytes;
  parts_.push_back({{}, offset, bytes});
}

Result<std::size_t> FileBody::read(std::span<char> room) {
  std::size_t filled = 0;
  while (filled < room.size() && part_ < parts_.size()) {
    const Part& part = parts_[part_];
    if (done_ == part.bytes) {
      ++part_;
      done_ = 0;
      continue;
    }
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(room.size() - filled, part.bytes - done_));
    if (!part.text.empty()) {
      std::memcpy(room.data() + filled, part.text.data() + done_, wanted);
      filled += wanted;
      done_ += wanted;
      continue;
    }
    const ssize_t got =
        ::pread(descriptor_, room.data() + filled, wanted, static_cast<off_t>(part.offset + done_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return os_failure(errno, "read a file that is being sent");
    if (got == 0) return failure(Errc::closed, "read a file that became shorter while it is sent");
    filled += static_cast<std::size_t>(got);
    done_ += static_cast<std::uint64_t>(got);
  }
  return filled;
}

}  // namespace sennit::http
