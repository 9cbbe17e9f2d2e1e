#pragma once
// Files: the disks of a simulation, in memory, with what real ones do wrong.
//
// Every call takes a latency drawn by the seed. What was written and not synced may be lost by
// lose_unsynced(), which is what a power failure does; closing does not sync. Each machine has its
// own files; there are no directories, permissions or links.
//
// Thread safety: none.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sennit/base/time.hpp"
#include "sennit/runtime/io/backend.hpp"

namespace sennit::runtime::simulated {

class Kernel;

struct DiskOptions {
  Duration latency_min = std::chrono::microseconds(20);
  Duration latency_max = std::chrono::milliseconds(2);
  double short_transfer = 0;                  // Probability that a read or write does only a part.
  double error = 0;                           // Likewise of EIO, which changes nothing.
  std::uint64_t capacity_bytes = UINT64_MAX;  // Of each machine; beyond it writes fail (ENOSPC).
};

class Files {
 public:
  explicit Files(Kernel& kernel) : kernel_(kernel) {}

  void set_disk(const DiskOptions& disk) { disk_ = disk; }
  /// Every file of the machine is as at its last sync; those that never were are gone. Descriptors
  /// stay open.
  void lose_unsynced(std::string_view machine);
  /// Null if there is no such file.
  [[nodiscard]] const std::string* content(std::string_view machine, std::string_view path) const;
  /// As if it had always been there.
  void put(std::string_view machine, std::string_view path, std::string_view content);
  [[nodiscard]] std::size_t open_count() const { return open_.size(); }

  // What the backend calls. The result is as that of a completion.
  [[nodiscard]] int call(const std::string& machine, const io::FileOperation& operation);
  void close(int descriptor) { open_.erase(descriptor); }
  [[nodiscard]] Duration latency();

 private:
  using Key = std::pair<std::string, std::string>;  // Machine and path.
  struct File {
    std::string content;
    std::optional<std::string> synced;
  };
  struct Open {
    std::shared_ptr<File> file;
    std::string machine;
    int flags = 0;
  };

  [[nodiscard]] int open(const std::string& machine, const io::FileOperation& operation);
  [[nodiscard]] int read(Open& opened, const io::FileOperation& operation);
  [[nodiscard]] int write(Open& opened, const io::FileOperation& operation);
  [[nodiscard]] std::size_t transfer_size(std::size_t bytes);
  [[nodiscard]] std::uint64_t used_bytes(const std::string& machine) const;

  Kernel& kernel_;
  DiskOptions disk_;
  std::map<Key, std::shared_ptr<File>> files_;
  std::map<int, Open> open_;
};

}  // namespace sennit::runtime::simulated
