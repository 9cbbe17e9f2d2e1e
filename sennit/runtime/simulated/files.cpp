#include "sennit/runtime/simulated/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

#include "sennit/base/assert.hpp"
#include "sennit/runtime/simulated/kernel.hpp"

namespace sennit::runtime::simulated {
namespace {

constexpr int file_descriptor_base = 1 << 29;  // Far from those of the real kernel and of sockets.
constexpr std::uint64_t file_size_max = std::uint64_t{1} << 32;  // It is memory.

}  // namespace

void Files::lose_unsynced(std::string_view machine) {
  kernel_.note("power failure");
  for (auto entry = files_.begin(); entry != files_.end();) {
    File& file = *entry->second;
    const bool is_kept = entry->first.first != machine || file.synced.has_value();
    if (entry->first.first == machine) file.content = file.synced.value_or("");
    entry = is_kept ? std::next(entry) : files_.erase(entry);
  }
}

const std::string* Files::content(std::string_view machine, std::string_view path) const {
  const auto found = files_.find({std::string(machine), std::string(path)});
  return found == files_.end() ? nullptr : &found->second->content;
}

void Files::put(std::string_view machine, std::string_view path, std::string_view content) {
  auto file = std::make_shared<File>();
  file->content = content;
  file->synced = content;
  files_[{std::string(machine), std::string(path)}] = std::move(file);
}

Duration Files::latency() { return kernel_.random_duration(disk_.latency_min, disk_.latency_max); }

int Files::call(const std::string& machine, const io::FileOperation& operation) {
  using Call = io::FileOperation::Call;
  kernel_.note("file", static_cast<std::uint64_t>(operation.call), operation.offset);
  if (kernel_.happens(disk_.error)) return -EIO;
  if (operation.call == Call::open) return open(machine, operation);
  const auto found = open_.find(operation.descriptor);
  if (found == open_.end()) return -EBADF;
  if (operation.call == Call::read) return read(found->second, operation);
  if (operation.call == Call::write) return write(found->second, operation);
  found->second.file->synced = found->second.file->content;
  return 0;
}

int Files::open(const std::string& machine, const io::FileOperation& operation) {
  const Key key{machine, operation.path};
  auto found = files_.find(key);
  if (found == files_.end()) {
    if ((operation.flags & O_CREAT) == 0) return -ENOENT;
    found = files_.emplace(key, std::make_shared<File>()).first;
  } else if ((operation.flags & O_EXCL) != 0) {
    return -EEXIST;
  }
  if ((operation.flags & O_TRUNC) != 0) found->second->content.clear();
  int descriptor = file_descriptor_base;
  while (open_.contains(descriptor)) ++descriptor;
  open_[descriptor] = {.file = found->second, .machine = machine, .flags = operation.flags};
  return descriptor;
}

std::size_t Files::transfer_size(std::size_t bytes) {
  bytes = std::min(bytes, io::Backend::file_bytes_max);
  if (bytes < 2 || !kernel_.happens(disk_.short_transfer)) return bytes;
  return kernel_.random().below(bytes - 1) + 1;
}

int Files::read(Open& opened, const io::FileOperation& operation) {
  if ((opened.flags & O_ACCMODE) == O_WRONLY) return -EBADF;
  const std::string& content = opened.file->content;
  if (operation.offset >= content.size()) return 0;
  const std::size_t left = content.size() - operation.offset;
  const std::size_t bytes = transfer_size(std::min(operation.room.size(), left));
  std::memcpy(operation.room.data(), content.data() + operation.offset, bytes);
  return static_cast<int>(bytes);
}

std::uint64_t Files::used_bytes(const std::string& machine) const {
  std::uint64_t bytes = 0;
  for (const auto& [key, file] : files_) {
    if (key.first == machine) bytes += file->content.size();
  }
  return bytes;
}

int Files::write(Open& opened, const io::FileOperation& operation) {
  if ((opened.flags & O_ACCMODE) == O_RDONLY) return -EBADF;
  std::string& content = opened.file->content;
  const std::uint64_t start = (opened.flags & O_APPEND) != 0 ? content.size() : operation.offset;
  if (start > file_size_max) return -EFBIG;
  std::uint64_t bytes = transfer_size(operation.data.size());
  if (start + bytes > content.size()) {
    const std::uint64_t used = used_bytes(opened.machine) - content.size();
    const std::uint64_t room = disk_.capacity_bytes - std::min(used, disk_.capacity_bytes);
    if (start + bytes > room) bytes = room - std::min(start, room);
    if (bytes == 0 && !operation.data.empty()) return -ENOSPC;
    content.resize(std::max<std::size_t>(content.size(), start + bytes));
  }
  std::memcpy(content.data() + start, operation.data.data(), bytes);
  return static_cast<int>(bytes);
}

}  // namespace sennit::runtime::simulated
